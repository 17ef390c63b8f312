//! The live stream tells what `/api/limits` says whenever it changes, to a bounded number of clients, and ends with the server.

use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use serde_json::{Value, json};

use crate::{
    events::Events,
    support::{DEVELOPER, TestSite},
};

const VISITOR: &str = "203.0.113.7";

async fn watch(site: &TestSite, visitor: &str) -> Result<Events, StatusCode> {
    let mut request = Request::builder().uri("/api/live").header("cf-connecting-ip", visitor);
    if let Some(cookie) = site.cookie() {
        request = request.header(header::COOKIE, cookie);
    }
    let response = site.open(request.body(Body::empty()).unwrap()).await;
    if response.status() != StatusCode::OK {
        return Err(response.status());
    }
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    Ok(Events::of(response.into_body()))
}

async fn ask(site: &TestSite, visitor: &str) {
    let body = json!({ "project": "tollgate", "question": "What is a key?" });
    assert_eq!(site.send("POST", "/api/ask", visitor, Some(&body)).await.status, 200);
}

fn used(limits: &Value, key: &str) -> Value {
    let rows = limits["rows"].as_array().unwrap();
    rows.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("no {key} in {limits}"))["used"]
        .clone()
}

#[tokio::test(start_paused = true)]
async fn changes_are_told_whoever_makes_them() {
    let mut site = TestSite::new();
    site.sign_in("acme").await;
    let mut events = watch(&site, VISITOR).await.unwrap();

    let (name, hello) = events.next().await.unwrap();
    assert_eq!((name.as_str(), &hello["visitor"], &hello["org"]), ("hello", &json!(VISITOR), &json!("acme")));
    assert_eq!(
        (&hello["store"], &hello["acts_as"], &hello["roles"]),
        (&json!("memory"), &json!(null), &json!([]))
    );
    assert_eq!(hello["offers"], json!({ "fault_switch": false, "webhook_replays": false, "model": null }));
    let (_, hello) = watch(&site, DEVELOPER).await.unwrap().next().await.unwrap();
    assert_eq!(hello["offers"], json!({ "fault_switch": true, "webhook_replays": true, "model": null }));
    let limits = events.next_of("limits").await;
    assert_eq!(limits["rows"], site.send("GET", "/api/limits", VISITOR, None).await.json());
    assert_eq!((&limits["up"], used(&limits, "ask-all")), (&json!(true), json!(0)));
    let activity = events.next_of("activity").await;
    assert_eq!((&activity["step_ms"], &activity["span_ms"]), (&json!(5_000), &json!(300_000)));
    assert_eq!(activity["steps"][0]["allowed"], 1, "the sign-in");

    ask(&site, VISITOR).await;
    let limits = events.next_of("limits").await;
    assert_eq!((used(&limits, "ask-all"), used(&limits, "ask:tollgate:203.0.113.7")), (json!(1), json!(1)));
    assert_eq!(events.next_of("activity").await["steps"][0]["allowed"], 2);

    ask(&site, "198.51.100.4").await;
    let limits = events.next_of("limits").await;
    assert_eq!((used(&limits, "ask-all"), used(&limits, "ask:tollgate:203.0.113.7")), (json!(2), json!(1)));

    site.switch_store(false).await;
    let limits = events.next_of("limits").await;
    assert_eq!((&limits["up"], used(&limits, "ask-all")), (&json!(false), json!(null)));
    site.switch_store(true).await;
    let limits = events.next_of("limits").await;
    assert_eq!((&limits["up"], used(&limits, "ask-all")), (&json!(true), json!(2)));
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_told_once_and_silence_is_a_beat() {
    let site = TestSite::new();
    let mut events = watch(&site, VISITOR).await.unwrap();
    events.next_of("activity").await;
    for _ in 0..10 {
        ask(&site, VISITOR).await;
    }
    assert_eq!(used(&events.next_of("limits").await, "ask-all"), 10);
    assert_eq!(events.next_of("activity").await["steps"][0]["allowed"], 10);
    let began = tokio::time::Instant::now();
    let (name, beat) = events.next().await.unwrap();
    assert_eq!((name.as_str(), began.elapsed().as_secs()), ("beat", 5));
    assert_eq!(beat["now"], site.app.guard().now().unix_ms());
    // A window that ends while nobody calls is seen at the next look.
    site.advance_seconds(86_400);
    assert_eq!(used(&events.next_of("limits").await, "ask-all"), 0);
    assert_eq!(events.next_of("activity").await["steps"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_visitor_has_four_streams_at_most() {
    let site = TestSite::new();
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(watch(&site, VISITOR).await.unwrap());
    }
    let refused = site.send("GET", "/api/live", VISITOR, None).await;
    refused.assert_problem(429);
    assert_eq!(refused.retry_after(), 10);
    assert!(watch(&site, "198.51.100.4").await.is_ok(), "others have their own");
    open.pop();
    assert!(watch(&site, VISITOR).await.is_ok(), "who leaves makes room");
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_the_server_and_with_the_session() {
    let mut site = TestSite::new();
    let stays = watch(&site, VISITOR).await.unwrap();
    site.sign_in("acme").await;
    let ends = watch(&site, VISITOR).await.unwrap();
    site.advance_seconds(12 * 60 * 60);
    assert_eq!(ends.rest().await.first().unwrap().0, "hello");

    site.app.close();
    let rest = stays.rest().await;
    assert_eq!(rest.last().map(|(name, _)| name.as_str()), Some("hello"), "it looks no more");
    assert_eq!(watch(&site, VISITOR).await.unwrap().rest().await.len(), 1, "and so do those that come late");
}
