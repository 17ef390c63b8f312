//! Walks the whole table of policies on a clock set by hand: each row admits exactly its maximum, refuses by its name, and
//! admits again when its window is over.

use std::sync::Arc;

use serde_json::{Value, json};
use tollgate_demo::Config;
use tollgate_guard::{Limit, Window};
use tollgate_memory::MemoryStore;

use crate::support::{Answer, TestSite};

/// One row of the table.
struct Row {
    policy: &'static str,
    max: u64,
    /// The first whole second at which the refused request passes.
    again_after_seconds: u64,
    /// The n-th request that is charged to the row, each as different from the others as the row allows.
    request: fn(u64) -> Sent,
}

impl Row {
    async fn send(&self, site: &TestSite, n: u64) -> Answer {
        (self.request)(n).to(site).await
    }
}

struct Sent {
    method: &'static str,
    path: &'static str,
    visitor: String,
    body: Option<Value>,
}

impl Sent {
    async fn to(&self, site: &TestSite) -> Answer {
        site.send(self.method, self.path, &self.visitor, self.body.as_ref()).await
    }
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

fn post(path: &'static str, visitor: String, body: Value) -> Sent {
    Sent { method: "POST", path, visitor, body: Some(body) }
}

fn ask(visitor: u64, project: u64) -> Sent {
    let body = json!({ "project": format!("project-{project}"), "question": "qwertz" });
    post("/api/ask", address(visitor), body)
}

fn chat(visitor: u64) -> Sent {
    post("/api/chat", address(visitor), json!({ "message": "qwertz" }))
}

fn bare(method: &'static str, path: &'static str, visitor: u64) -> Sent {
    Sent { method, path, visitor: address(visitor), body: None }
}

fn address(n: u64) -> String {
    format!("203.0.{}.{}", n / 250, n % 250 + 1)
}

/// Signed-in rows are keyed by the organization, so each of their requests may come from another visitor.
const ROWS: &[Row] = &[
    Row { policy: "ask-burst", max: 20, again_after_seconds: MINUTE, request: |n| ask(0, n) },
    Row { policy: "ask", max: 15, again_after_seconds: DAY, request: |_| ask(0, 0) },
    Row { policy: "ask-site", max: 500, again_after_seconds: DAY, request: |n| ask(n, 0) },
    Row { policy: "ask-all", max: 5_000, again_after_seconds: DAY, request: |n| ask(n / 10, n % 11) },
    Row {
        policy: "github",
        max: 60,
        again_after_seconds: HOUR,
        request: |n| bare("POST", "/api/lookups", n),
    },
    Row {
        policy: "docs-run",
        max: 10,
        again_after_seconds: DAY,
        request: |n| bare("POST", "/api/docs-runs", n),
    },
    Row {
        policy: "page-retry",
        max: 50,
        again_after_seconds: DAY,
        request: |n| post("/api/page-retries", address(n), json!({ "page": "overview" })),
    },
    Row {
        policy: "publish",
        max: 50,
        again_after_seconds: DAY,
        request: |n| bare("POST", "/api/publishes", n),
    },
    Row {
        policy: "auth",
        max: 5,
        again_after_seconds: 10,
        request: |n| post("/api/session", address(0), json!({ "org": format!("org-{n}") })),
    },
    Row { policy: "auth", max: 100, again_after_seconds: 10, request: |_| bare("DELETE", "/api/session", 0) },
    Row { policy: "auth", max: 100, again_after_seconds: 10, request: |_| bare("GET", "/api/session", 0) },
    // A sliding window: two seconds into the next one, the 30 of the window before weigh 29.
    Row { policy: "playground:minute", max: 30, again_after_seconds: MINUTE + 2, request: |_| chat(0) },
    Row { policy: "playground:day", max: 200, again_after_seconds: DAY, request: chat },
];

#[tokio::test]
async fn each_row_admits_exactly_its_maximum_and_again_after_its_window() {
    for row in ROWS {
        let mut site = TestSite::new();
        site.sign_in("acme").await;
        for n in 0..row.max {
            let answer = row.send(&site, n).await;
            assert_eq!(answer.status, 200, "{} {n}: {}", row.policy, answer.text);
            assert!(answer.header("ratelimit").contains(&format!("{:?};r=", row.policy)), "{answer:?}");
        }
        for n in 0..3 {
            let answer = row.send(&site, row.max + n).await;
            answer.assert_problem(429);
            assert_eq!(answer.json()["violated-policies"], json!([row.policy]), "{}", answer.text);
            assert_eq!(answer.retry_after(), row.again_after_seconds, "{}", row.policy);
        }
        site.advance_seconds(row.again_after_seconds - 1);
        // The session ended long ago.
        site.sign_in("acme").await;
        assert_eq!(row.send(&site, row.max).await.status, 429, "{}: a second too early", row.policy);
        site.advance_seconds(1);
        assert_eq!(row.send(&site, row.max).await.status, 200, "{}: its window is over", row.policy);
    }
}

#[tokio::test]
async fn the_rules_of_the_account_paths_are_counted_apart() {
    let site = TestSite::new();
    let sign_in = json!({ "org": "acme" });
    for _ in 0..5 {
        assert_eq!(site.send("POST", "/api/session", "203.0.113.7", Some(&sign_in)).await.status, 200);
    }
    site.send("POST", "/api/session", "203.0.113.7", Some(&sign_in)).await.assert_problem(429);
    assert_eq!(site.send("GET", "/api/session", "203.0.113.7", None).await.status, 200);
    assert_eq!(site.send("POST", "/api/session", "203.0.113.8", Some(&sign_in)).await.status, 200);
}

#[tokio::test]
async fn a_refused_question_is_charged_to_none() {
    let site = TestSite::new();
    for n in 0..20 {
        let body = json!({ "project": "tollgate", "question": "What is a window?" });
        let answer = site.send("POST", "/api/ask", "203.0.113.7", Some(&body)).await;
        assert_eq!(answer.status, if n < 15 { 200 } else { 429 });
        for policy in ["ask-burst", "ask", "ask-site", "ask-all"] {
            assert!(answer.header("ratelimit-policy").contains(&format!("{policy:?};q=")), "{answer:?}");
        }
    }
    for key in ["ask-burst:203.0.113.7", "ask:tollgate:203.0.113.7", "ask-site:tollgate", "ask-all"] {
        assert_eq!(site.limit(key, "203.0.113.7").await["used"], 15, "{key}");
    }
    assert_eq!(site.limit("ask:tollgate:203.0.113.8", "203.0.113.8").await["used"], 0);
}

#[tokio::test]
async fn the_playgrounds_budget_is_configured() {
    let mut config = Config::development().unwrap();
    config.playground_day = Limit::fixed(2, Window::DAY);
    let site = TestSite::with(config, Arc::new(MemoryStore::new()));
    for (visitor, status) in [(0, 200), (1, 200), (2, 429)] {
        assert_eq!(chat(visitor).to(&site).await.status, status);
    }
    assert_eq!(site.limit("playground:day", "203.0.113.7").await["quota"], 2);
}
