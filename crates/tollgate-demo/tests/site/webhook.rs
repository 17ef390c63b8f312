//! A push to the default branch updates the pages it names, once, and at most fifteen times a day for an organization.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{body::Body, http::Request, routing::post};
use futures_util::stream;
use serde_json::{Value, json};
use tollgate_demo::{Config, Model};
use tollgate_guard::ManualClock;
use tollgate_memory::MemoryStore;
use tollgate_webhook::GithubSecrets;

use crate::{
    answers::served,
    support::{Answer, DEVELOPER, TestSite},
};

const SOURCE: &str = "192.0.2.1";
const DAY: u64 = 24 * 60 * 60;

fn secrets() -> GithubSecrets {
    GithubSecrets::new(["the-secret-that-is-in-use", "the-secret-before-that-one"]).unwrap()
}

fn site(worker: bool) -> TestSite {
    with(|_| (), worker)
}

fn with(change: impl FnOnce(&mut Config), worker: bool) -> TestSite {
    let mut config = Config::development().unwrap();
    config.webhook_secrets = Some(secrets());
    change(&mut config);
    let site = TestSite::with(config, Arc::new(MemoryStore::new()));
    if worker {
        work(&site);
    }
    site
}

fn work(site: &TestSite) {
    let app = site.app.clone();
    tokio::spawn(async move { app.serve_jobs(std::future::pending()).await });
}

fn push(branch: &str, path: &str) -> String {
    json!({
        "ref": format!("refs/heads/{branch}"),
        "repository": { "default_branch": "main", "owner": { "login": "acme" } },
        "commits": [{ "added": [], "modified": [path], "removed": [] }],
    })
    .to_string()
}

/// A delivery of GitHub's, with these secrets.
fn request(id: &str, event: &str, body: &str, secrets: &GithubSecrets) -> Request<Body> {
    Request::post("/webhooks/github")
        .header("cf-connecting-ip", SOURCE)
        .header("content-type", "application/json")
        .header("x-github-hook-id", "17")
        .header("x-github-event", event)
        .header("x-github-delivery", id)
        .header("x-hub-signature-256", secrets.sign(body.as_bytes()))
        .body(Body::from(body.to_owned()))
        .unwrap()
}

async fn deliver(site: &TestSite, id: &str) -> Answer {
    site.send_request(request(id, "push", &push("main", "docs/overview.md"), &secrets())).await
}

fn said(answer: &Answer) -> (u16, Value) {
    (answer.status.as_u16(), answer.json()["delivery"].clone())
}

/// Delivers again and again until the worker has ended the delivery, and tells how that was seen.
async fn ended(site: &TestSite, id: &str) -> Answer {
    for _ in 0..100_000 {
        let answer = deliver(site, id).await;
        if said(&answer) != (202, json!("in progress")) {
            return answer;
        }
        tokio::task::yield_now().await;
    }
    panic!("{id} is in progress for ever");
}

async fn updates(site: &TestSite) -> Value {
    site.limit("docs-update:acme", SOURCE).await["used"].clone()
}

#[tokio::test]
async fn a_push_is_worked_on_once() {
    let mut site = site(true);
    site.sign_in("acme").await;
    let first = deliver(&site, "push-1").await;
    assert_eq!(said(&first), (202, json!("queued")));
    assert_eq!(first.json()["pages"], json!(["overview"]));
    assert_eq!(said(&ended(&site, "push-1").await), (200, json!("duplicate")));
    assert_eq!(updates(&site).await, 1);

    let publish = site.send("POST", "/api/publishes", SOURCE, None).await;
    assert_eq!(publish.json()["changed"], true, "the update was staged");
    for other in ["the-secret-before-that-one", "the-secret-that-is-in-use"] {
        let secrets = GithubSecrets::new([other]).unwrap();
        let body = push("main", "docs/overview.md");
        let answer = site.send_request(request("push-1", "push", &body, &secrets)).await;
        assert_eq!(said(&answer), (200, json!("duplicate")), "each secret of a rotation will do");
    }
}

#[tokio::test]
async fn what_is_not_ours_is_answered_and_not_kept() {
    let mut site = site(true);
    site.sign_in("acme").await;
    let default = push("main", "docs/overview.md");
    let deleted = default.replacen('{', r#"{"deleted":true,"#, 1);
    for (event, body, status, word) in [
        ("push", push("other", "docs/overview.md"), 200, "ignored"),
        ("ping", default, 200, "ignored"),
        ("push", deleted, 200, "ignored"),
        ("push", push("main", "src/lib.rs"), 200, "nothing to do"),
    ] {
        let answer = site.send_request(request("push-1", event, &body, &secrets())).await;
        assert_eq!(said(&answer), (status, json!(word)), "{body}");
    }
    // Nobody has claimed the id, save for the push without pages, which is done.
    assert_eq!(said(&deliver(&site, "push-1").await), (200, json!("duplicate")));
    let unread = site.send_request(request("push-2", "push", "payload=%7B%7D", &secrets())).await;
    unread.assert_problem(422);
    assert!(unread.text.contains("application/json"), "{}", unread.text);
    assert_eq!(said(&deliver(&site, "push-2").await), (202, json!("queued")), "what failed is free again");

    // A page that is not on the site is no work: nothing is counted.
    ended(&site, "push-2").await;
    let unknown = push("main", "docs/no-such-page.md");
    let answer = site.send_request(request("push-3", "push", &unknown, &secrets())).await;
    assert_eq!(said(&answer), (202, json!("queued")));
    assert_eq!(said(&ended(&site, "push-3").await), (200, json!("duplicate")));
    assert_eq!(updates(&site).await, 1);
}

#[tokio::test]
async fn a_forged_delivery_writes_nothing_and_its_source_is_refused_after_twenty() {
    let site = site(false);
    let forged = GithubSecrets::new(["a-secret-of-somebody-else"]).unwrap();
    let body = push("main", "docs/overview.md");
    for _ in 0..20 {
        site.send_request(request("push-1", "push", &body, &forged)).await.assert_problem(401);
    }
    let refused = site.send_request(request("push-1", "push", &body, &forged)).await;
    refused.assert_problem(429);
    assert_eq!(refused.json()["violated-policies"], json!(["webhook-forgery"]));
    assert_eq!(deliver(&site, "push-1").await.status, 429, "genuine or not: it is not read");
    site.advance_seconds(120);
    assert_eq!(said(&deliver(&site, "push-1").await), (202, json!("queued")), "the id was nobody's");
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_does_not_arrive_is_not_waited_for() {
    let site = site(false);
    let request = request("push-1", "push", &push("main", "docs/overview.md"), &secrets());
    let endless = stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let answer = site.send_request(request.map(|_| Body::from_stream(endless))).await;
    assert_eq!(answer.status, 408);
    assert_eq!(said(&deliver(&site, "push-1").await), (202, json!("queued")), "the id is still nobody's");
}

#[tokio::test]
async fn the_sixteenth_update_of_a_day_is_left_for_tomorrow() {
    let mut site = site(true);
    site.sign_in("acme").await;
    for n in 0..15 {
        let id = format!("push-{n}");
        assert_eq!(said(&deliver(&site, &id).await), (202, json!("queued")));
        assert_eq!(said(&ended(&site, &id).await), (200, json!("duplicate")));
    }
    assert_eq!(said(&deliver(&site, "push-15").await), (202, json!("queued")));
    // Released: it can be had again, and is refused again.
    assert_eq!(said(&ended(&site, "push-15").await), (202, json!("queued")));
    assert_eq!(updates(&site).await, 15);

    site.advance_seconds(DAY);
    site.sign_in("acme").await;
    assert_eq!(updates(&site).await, 0);
    // What was queued last may still be waiting; in the end it is done.
    while said(&ended(&site, "push-15").await) != (200, json!("duplicate")) {}
    assert_eq!(updates(&site).await, 1);
    assert_eq!(said(&deliver(&site, "push-3").await), (200, json!("duplicate")), "and so are the others");
}

#[tokio::test]
async fn what_has_waited_for_longer_than_its_lease_is_still_done_once() {
    let mut site = site(false);
    assert_eq!(said(&deliver(&site, "push-1").await), (202, json!("queued")));
    assert_eq!(said(&deliver(&site, "push-1").await), (202, json!("in progress")));
    assert_eq!(said(&deliver(&site, "push-2").await), (202, json!("queued")));
    site.advance_seconds(5 * 60);
    // The lease has ended: one of the two is delivered again, the other is left as it was.
    assert_eq!(said(&deliver(&site, "push-1").await), (202, json!("queued")));
    work(&site);
    for id in ["push-1", "push-2"] {
        assert_eq!(said(&ended(&site, id).await), (200, json!("duplicate")), "{id}");
    }
    site.sign_in("acme").await;
    assert_eq!(updates(&site).await, 2);
}

#[tokio::test]
async fn an_update_that_outlasts_its_lease_is_counted_once() {
    // The model takes longer than a lease, the first time it is asked.
    let clock = Arc::new(Mutex::new(None::<ManualClock>));
    let passes = Arc::clone(&clock);
    let answers = post(move || {
        if let Some(clock) = passes.lock().unwrap().take() {
            clock.advance(Duration::from_secs(5 * 60));
        }
        std::future::ready("data: [DONE]\n\n")
    });
    let slow = Model::new(&served(answers).await, None, "slow").unwrap();
    let mut site = with(|config| config.model = Some(slow), false);
    site.sign_in("acme").await;
    *clock.lock().unwrap() = Some(site.clock.clone());
    assert_eq!(said(&deliver(&site, "push-1").await), (202, json!("queued")));
    work(&site);
    assert_eq!(said(&ended(&site, "push-1").await), (202, json!("queued")), "its lease has ended");
    assert_eq!(said(&ended(&site, "push-1").await), (200, json!("duplicate")));
    assert_eq!(updates(&site).await, 1, "whoever finds that it is no longer theirs gives its update back");
}

#[tokio::test]
async fn an_update_that_fails_is_given_back_and_can_be_had_again() {
    let gone = Model::new("http://127.0.0.1:9", None, "gone").unwrap();
    let mut site = with(|config| config.model = Some(gone), true);
    site.sign_in("acme").await;
    for _ in 0..3 {
        assert_eq!(said(&ended(&site, "push-1").await), (202, json!("queued")));
    }
    // The last of them is still waiting, or being tried.
    while said(&ended(&site, "push-1").await) != (202, json!("queued")) {}
    assert!(updates(&site).await.as_u64().unwrap() <= 1, "none of the four that failed is counted");
}

#[tokio::test]
async fn without_the_store_pushes_go_on_uncounted() {
    let mut site = site(true);
    site.sign_in("acme").await;
    site.switch_store(false).await;
    for _ in 0..2 {
        assert_eq!(said(&deliver(&site, "push-1").await), (202, json!("queued")), "rather twice than never");
    }
    site.switch_store(true).await;
    assert_eq!(updates(&site).await, 0);
}

#[tokio::test]
async fn a_replay_shows_what_becomes_of_the_second() {
    let mut site = TestSite::new();
    work(&site);
    site.sign_in("acme").await;
    let nothing = json!({});
    for _ in 0..2 {
        let answer = site.send("POST", "/api/webhook-replays", DEVELOPER, Some(&nothing)).await.json();
        assert_eq!(
            answer["first"],
            json!({ "status": 202, "body": { "delivery": "queued", "pages": ["overview"] } })
        );
        let second = (answer["second"]["status"].as_u64(), answer["second"]["body"]["delivery"].as_str());
        assert!(
            matches!(second, (Some(202), Some("in progress")) | (Some(200), Some("duplicate"))),
            "{answer}"
        );
    }
    site.send("POST", "/api/webhook-replays", SOURCE, Some(&nothing)).await.assert_problem(403);

    let mut config = Config::development().unwrap();
    config.has_fault_switch = false;
    let site = TestSite::with(config, Arc::new(MemoryStore::new()));
    site.send("POST", "/api/webhook-replays", DEVELOPER, Some(&nothing)).await.assert_problem(403);
    let answer = deliver(&site, "push-1").await;
    answer.assert_problem(503);
    assert!(answer.text.contains("GITHUB_WEBHOOK_SECRET"), "{}", answer.text);
}
