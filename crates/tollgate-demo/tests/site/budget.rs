//! Answers reserve an estimate of tokens from one budget for everybody, and settle to what they used.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Request, header},
};
use serde_json::{Value, json};
use tollgate_demo::{
    Config,
    policies::{ASK_TOKENS, CHAT_TOKENS, TOKENS_LIMIT},
};
use tollgate_guard::Units;
use tollgate_memory::MemoryStore;

use crate::{events::Events, support::TestSite};

const VISITOR: &str = "203.0.113.7";

fn with_tokens(quota: u64) -> TestSite {
    let mut config = Config::development().unwrap();
    config.tokens_day = TOKENS_LIMIT.with_quota(Units::new(quota));
    TestSite::with(config, Arc::new(MemoryStore::new()))
}

async fn used(site: &TestSite) -> u64 {
    site.limit("tokens", VISITOR).await["used"].as_u64().unwrap()
}

async fn chat(site: &TestSite, message: &str) -> Events {
    let request = Request::post("/api/chat")
        .header("cf-connecting-ip", VISITOR)
        .header(header::ACCEPT, "text/event-stream")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(json!({ "message": message }).to_string()));
    let response = site.open(request.unwrap()).await;
    assert_eq!(response.status(), 200);
    assert!(response.headers()["ratelimit"].to_str().unwrap().contains("\"tokens\";r="));
    Events::of(response.into_body())
}

fn tokens(usage: &Value) -> u64 {
    usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap()
}

#[tokio::test]
async fn an_answer_holds_its_estimate_and_then_costs_what_it_used() {
    let site = with_tokens(100_000);
    let mut events = chat(&site, "What is a key?").await;
    events.next_of("text").await;
    assert_eq!(used(&site).await, CHAT_TOKENS, "while it is told");
    let cost = tokens(&events.next_of("summary").await["usage"]);
    assert_eq!(used(&site).await, cost, "settled before the end is told");
    assert!(0 < cost && cost < CHAT_TOKENS);
    drop(events);

    let message = json!({ "message": "What is a key?" });
    let whole = site.send("POST", "/api/chat", VISITOR, Some(&message)).await;
    assert_eq!(tokens(&whole.json()["usage"]), cost);
    let question = json!({ "project": "tollgate", "question": "What is a key?" });
    assert_eq!(site.send("POST", "/api/ask", VISITOR, Some(&question)).await.status, 200);
    let (answers, spent) = site.app.spent_so_far();
    assert_eq!((answers, used(&site).await), (3, spent), "in JSON too");
    assert!(spent > 2 * cost);
}

#[tokio::test]
async fn a_client_that_leaves_pays_for_what_was_told() {
    let site = with_tokens(100_000);
    let whole = chat(&site, "What is a key?").await.next_of("summary").await;
    let cost = tokens(&whole["usage"]);
    let before = used(&site).await;
    let mut events = chat(&site, "What is a key?").await;
    let text = events.next_of("text").await["text"].as_str().unwrap().len();
    drop(events);
    let paid = used(&site).await - before;
    let told = u64::try_from(text.div_ceil(4)).unwrap();
    assert_eq!(paid, whole["usage"]["prompt_tokens"].as_u64().unwrap() + told);
    assert!(paid < cost, "{paid} of {cost}");
    assert_eq!(site.app.spent_so_far(), (2, before + paid));
    // Who leaves before the first piece has had it read.
    drop(chat(&site, "What is a key?").await);
    assert_eq!(used(&site).await, site.app.spent_so_far().1);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_charged_to_nothing() {
    let site = with_tokens(ASK_TOKENS + 50);
    let question = json!({ "project": "tollgate", "question": "What is a key?" });
    let message = json!({ "message": "What is a key?" });
    let held = chat(&site, "What is a key?").await;
    for (path, body) in [("/api/ask", &question), ("/api/chat", &message)] {
        let answer = site.send("POST", path, VISITOR, Some(body)).await;
        answer.assert_problem(429);
        assert_eq!(answer.json()["violated-policies"], json!(["tokens"]));
    }
    for key in ["ask-all", "ask-burst:203.0.113.7"] {
        assert_eq!(site.limit(key, VISITOR).await["used"], 0, "{key}");
    }
    drop(held);
    assert_eq!(
        site.send("POST", "/api/ask", VISITOR, Some(&question)).await.status,
        200,
        "it was given back"
    );
    site.advance_seconds(86_400);
    assert_eq!(used(&site).await, 0, "a day has its own");
}
