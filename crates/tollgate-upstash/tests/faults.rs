//! What a service and a network can do instead of answering.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::Instant};
use tollgate_store::StoreErrorKind::{self, Busy, Garbage, Reject, Timeout, Unreachable};
use tollgate_testbed::{Guarded, SLACK};
use tollgate_upstash::{Credentials, UpstashStore};

use crate::support::{Act, Server, TOKEN, chain, forget};

/// So long that a busy machine, on which all of them meet their fault at once, keeps it.
const DEADLINE: Duration = Duration::from_secs(4);

/// What is done, what comes of it, how many requests that takes, and what the error says.
type Row = (&'static str, Act, StoreErrorKind, usize, &'static str);

fn rows() -> Vec<Row> {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let error = |status, text: &str| Act::json(status, &json!({ "error": text }));
    let moved =
        Act::Answer { status: 302, headers: "location: http://127.0.0.1:1/\r\n".into(), body: String::new() };
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"result\":";
    vec![
        // The connection.
        ("mute", Act::Mute, Timeout, 1, "given up after 4000 ms"),
        ("a byte now and then", Act::Drip, Timeout, 1, "given up after 4000 ms"),
        ("closed unanswered", Act::Raw(Vec::new()), Unreachable, 3, "check the URL"),
        ("reset unanswered", Act::Break(Vec::new()), Unreachable, 3, "check the URL"),
        ("closed in mid-head", Act::Raw(bytes("HTTP/1.1 200")), Unreachable, 3, "check the URL"),
        ("closed in mid-body", Act::Raw(bytes(cut)), Unreachable, 3, "check the URL"),
        ("reset in mid-body", Act::Break(bytes(cut)), Unreachable, 3, "check the URL"),
        (
            "another protocol",
            Act::Raw(bytes("-ERR unknown command 'POST'\r\n")),
            Unreachable,
            3,
            "check the URL",
        ),
        // The status.
        ("500", error(500, "ERR internal"), Busy, 3, "status 500"),
        ("502 with HTML", Act::text(502, "<html>Bad Gateway</html>"), Busy, 3, "status 502"),
        ("503 without a body", Act::text(503, ""), Busy, 3, "status 503"),
        ("429 with HTML", Act::text(429, "<html>"), Busy, 1, "status 429"),
        ("401 with HTML", Act::text(401, "<html>"), Reject, 1, "token"),
        ("403 with HTML", Act::text(403, "<html>"), Reject, 1, "token"),
        ("404 with HTML", Act::text(404, "<html>"), Reject, 1, "no REST API at this URL"),
        ("413 with text", Act::text(413, "length limit exceeded"), Reject, 1, "too large"),
        ("a redirect", moved, Reject, 1, "leads elsewhere"),
        ("204", Act::Raw(bytes("HTTP/1.1 204 No Content\r\n\r\n")), Garbage, 1, "status 204"),
        // The body.
        ("200 with HTML", Act::text(200, "<html>Log in</html>"), Garbage, 1, "check"),
        ("200 without a body", Act::text(200, ""), Garbage, 1, "check"),
        ("truncated JSON", Act::text(200, "{\"result\":1"), Garbage, 1, "check"),
        ("no result", Act::text(200, "{}"), Garbage, 1, "check"),
        ("a boolean", Act::json(200, &json!({ "result": true })), Garbage, 1, "check"),
        ("text that is not base64", Act::json(200, &json!({ "result": "plain" })), Garbage, 1, "check"),
        ("another script's text", Act::json(200, &json!({ "result": "MQ==" })), Garbage, 1, "forgetting"),
        ("another script's null", Act::json(200, &json!({ "result": null })), Garbage, 1, "forgetting"),
        ("a body without end", Act::text(200, &" ".repeat(9 << 20)), Garbage, 1, "check the URL"),
        // The server's own words.
        ("a wrong token", error(401, "WRONGPASS invalid or missing auth token"), Reject, 1, "token"),
        (
            "a read-only token",
            error(400, "NOPERM this user has no permissions to run the 'eval' command"),
            Reject,
            1,
            "read-only token",
        ),
        ("READONLY", error(400, "READONLY You can't write against a read only replica."), Busy, 1, "replica"),
        ("LOADING", error(400, "LOADING Redis is loading the dataset in memory"), Busy, 1, "LOADING"),
        ("MASTERDOWN", error(400, "MASTERDOWN Link with MASTER is down"), Busy, 1, "MASTERDOWN"),
        ("OOM", error(400, "OOM command not allowed when used memory > 'maxmemory'."), Busy, 1, "memory"),
        (
            "WRONGTYPE",
            error(400, "WRONGTYPE Operation against a key holding the wrong kind of value"),
            Reject,
            1,
            "WRONGTYPE",
        ),
        (
            "requests of the day",
            error(400, "ERR max daily request limit exceeded. Limit: 10000, Usage: 10000."),
            Reject,
            1,
            "this day",
        ),
        ("requests of the month", error(429, "ERR max requests limit exceeded"), Reject, 1, "this month"),
        ("a full database", error(400, "ERR DB capacity quota exceeded"), Reject, 1, "full"),
        (
            "a long key",
            error(400, "ERR max key size exceeded. Limit: 32768 bytes, Actual: 40000 bytes"),
            Reject,
            1,
            "shorter key parts",
        ),
        ("connections", error(400, "ERR max concurrent connections exceeded"), Busy, 1, "connections"),
        (
            "a proxy that passes the flag on",
            error(400, "ERR Unexpected flag in script shebang: allow-key-locking"),
            Reject,
            1,
            "gateway",
        ),
        ("anything else", error(400, "ERR syntax error"), Reject, 1, "ERR syntax error"),
    ]
}

#[tokio::test]
async fn each_fault_has_its_error_and_its_outcomes_within_the_deadline() {
    let ways =
        [true, false].into_iter().flat_map(|batching| rows().into_iter().map(move |row| (row, batching)));
    // At once, since most of them are a wait.
    join_all(ways.map(|(row, batching)| meet(row, batching))).await;
}

async fn meet((name, act, kind, requests, words): Row, batching: bool) {
    let server = Server::start(move |_| act.clone()).await;
    let store = server.builder().deadline(DEADLINE).batching(batching).build().unwrap();
    let start = Instant::now();
    let error = forget(&store, "a").await.expect_err(name);
    let text = chain(&error);
    assert_eq!(error.kind(), kind, "{name}: {text}");
    assert!(text.contains(words), "{name}: {text}");
    assert!(start.elapsed() < DEADLINE + SLACK, "{name} took {:?}", start.elapsed());
    assert_eq!(server.seen().len(), requests, "{name}, batching: {batching}");
    Guarded::new(store, DEADLINE).demand_outage(kind, name).await;
}

/// The same faults within one answer of several, or of the whole request, when calls share it.
#[tokio::test]
async fn each_error_text_means_the_same_in_a_pipeline() {
    for (name, act, kind, ..) in rows() {
        let Act::Answer { status, body, .. } = &act else { continue };
        let Ok(Value::Object(object)) = serde_json::from_str(body) else { continue };
        if *status >= 500 {
            continue;
        }
        let server = Server::start(move |received| received.each(|_| Value::Object(object.clone()))).await;
        let store = server.builder().build().unwrap();
        let (one, other) = tokio::join!(forget(&store, "a"), forget(&store, "b"));
        assert_eq!(one.expect_err(name).kind(), kind, "{name}");
        assert_eq!(other.expect_err(name).kind(), kind, "{name}");
        assert_eq!(server.seen().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn a_refused_connection_is_an_outage() {
    for batching in [true, false] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let credentials = Credentials::new(&url, TOKEN).unwrap();
        let store = UpstashStore::builder(credentials).batching(batching).build().unwrap();
        let start = Instant::now();
        let error = forget(&store, "a").await.unwrap_err();
        assert_eq!(error.kind(), Unreachable);
        assert!(chain(&error).contains("refused"), "{}", chain(&error));
        assert!(start.elapsed() < UpstashStore::DEADLINE + SLACK, "it took {:?}", start.elapsed());
        Guarded::new(store, UpstashStore::DEADLINE).demand_outage(Unreachable, "refused").await;
    }
}
