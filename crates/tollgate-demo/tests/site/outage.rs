//! With the store switched off each route and each policy does what the table says, and nothing is counted or lost.

use std::sync::Arc;

use serde_json::{Value, json};
use tollgate_demo::{
    Config,
    policies::{
        ASK, ASK_ALL, ASK_BURST, ASK_SITE, AUTH, DOCS_RUN, DOCS_UPDATE, GITHUB, PAGE_RETRY,
        PLAYGROUND_MINUTE, PUBLISH, WEBHOOK_FORGERY,
    },
};
use tollgate_guard::OnOutage;
use tollgate_memory::MemoryStore;

use crate::support::{DEVELOPER, TestSite};

const VISITOR: &str = "203.0.113.7";

#[tokio::test]
async fn each_route_does_what_its_policies_say() {
    let mut site = TestSite::new();
    site.sign_in("acme").await;
    let question = json!({ "project": "tollgate", "question": "What is a sliding window?" });
    let message = json!({ "message": "What is a sliding window?" });
    let page = json!({ "page": "overview" });
    let org = json!({ "org": "acme" });
    let requests: &[(&str, &str, Option<&Value>, u16)] = &[
        ("POST", "/api/ask", Some(&question), 503),
        ("POST", "/api/lookups", None, 200),
        ("POST", "/api/docs-runs", None, 200),
        ("POST", "/api/page-retries", Some(&page), 200),
        ("POST", "/api/publishes", None, 200),
        ("POST", "/api/session", Some(&org), 200),
        ("GET", "/api/session", None, 200),
        ("DELETE", "/api/session", None, 200),
        // One of its two policies stops, so it stops.
        ("POST", "/api/chat", Some(&message), 503),
        ("GET", "/healthz", None, 200),
        ("GET", "/", None, 200),
    ];
    site.send("POST", "/api/ask", VISITOR, Some(&question)).await;
    let before = site.send("GET", "/api/limits", VISITOR, None).await;

    site.switch_store(false).await;
    // More often than a documentation run is admitted in a day: what is let through is not counted.
    for _ in 0..12 {
        for (method, path, body, status) in requests {
            let answer = site.send(method, path, VISITOR, *body).await;
            assert_eq!(answer.status, *status, "{method} {path}: {}", answer.text);
            if *status == 503 {
                answer.assert_problem(503);
                assert_eq!(answer.retry_after(), 60);
                let kind = answer.json()["type"].as_str().unwrap().to_owned();
                assert!(kind.ends_with("#temporary-reduced-capacity"), "{kind}");
            }
        }
    }

    let during = site.send("GET", "/api/limits", VISITOR, None).await.json();
    assert_eq!(during.as_array().unwrap().len(), before.json().as_array().unwrap().len());
    for row in during.as_array().unwrap() {
        assert!(row["used"].is_null() && row["quota"].is_null() && row["reset_at"].is_null(), "{row}");
        assert!(row["window_ms"].is_u64() && row["on_outage"].is_string() && row["key"].is_string(), "{row}");
    }

    site.switch_store(true).await;
    site.advance_seconds(1);
    let after = site.send("GET", "/api/limits", VISITOR, None).await;
    assert_eq!(after.json(), before.json(), "nothing was counted and nothing was lost");
}

#[tokio::test]
async fn the_last_column_is_each_policys_own() {
    let site = TestSite::new();
    let guard = site.app.guard();
    let (day, tokens) = (site.app.playground_day(), site.app.tokens());
    let rows = [
        (ASK_BURST.charge(VISITOR), ASK_BURST.on_outage(), false),
        (ASK.charge(("docs", VISITOR)), ASK.on_outage(), false),
        (ASK_SITE.charge("docs"), ASK_SITE.on_outage(), false),
        (ASK_ALL.charge(()), ASK_ALL.on_outage(), false),
        (GITHUB.charge("acme"), GITHUB.on_outage(), true),
        (DOCS_RUN.charge("acme"), DOCS_RUN.on_outage(), true),
        (PAGE_RETRY.charge("acme"), PAGE_RETRY.on_outage(), true),
        (PUBLISH.charge("acme"), PUBLISH.on_outage(), true),
        (AUTH.charge("203.0.113.7/sign-in"), AUTH.on_outage(), true),
        (PLAYGROUND_MINUTE.charge(VISITOR), PLAYGROUND_MINUTE.on_outage(), true),
        (day.charge(()), day.on_outage(), false),
        (tokens.charge(()), tokens.on_outage(), false),
        (DOCS_UPDATE.charge("acme"), DOCS_UPDATE.on_outage(), true),
        (WEBHOOK_FORGERY.charge(VISITOR), WEBHOOK_FORGERY.on_outage(), true),
    ];
    site.app.switch().set(false);
    for (charge, on_outage, goes_on) in rows {
        assert_eq!(on_outage, if goes_on { OnOutage::Allow } else { OnOutage::Deny }, "{charge:?}");
        assert_eq!(guard.check(std::slice::from_ref(&charge)).await.is_allowed(), goes_on, "{charge:?}");
    }
}

#[tokio::test]
async fn the_switch_is_not_for_those_who_come_through_a_proxy() {
    let site = TestSite::new();
    let off = json!({ "up": false });
    site.send("PUT", "/api/store", VISITOR, Some(&off)).await.assert_problem(403);
    assert_eq!(site.send("GET", "/api/store", VISITOR, None).await.json()["up"], true);
}

#[tokio::test]
async fn the_switch_can_be_taken_away() {
    let mut config = Config::development().unwrap();
    config.has_fault_switch = false;
    let site = TestSite::with(config, Arc::new(MemoryStore::new()));
    let off = json!({ "up": false });
    site.send("PUT", "/api/store", DEVELOPER, Some(&off)).await.assert_problem(403);
    assert_eq!(site.send("GET", "/api/store", VISITOR, None).await.json()["up"], true);
}
