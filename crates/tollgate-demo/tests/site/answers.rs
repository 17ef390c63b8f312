//! Answers piece by piece: in the pages' own words, and through a server that speaks the protocol of chat completions.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, Request, StatusCode, header},
    routing::{MethodRouter, post},
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tollgate_demo::{Config, Model};
use tollgate_memory::MemoryStore;

use crate::{
    events::Events,
    support::{Answer, TestSite},
};

const VISITOR: &str = "203.0.113.7";

fn question(text: &str) -> (&'static str, Value) {
    ("/api/ask", json!({ "project": "tollgate", "question": text }))
}

fn message(text: &str) -> (&'static str, Value) {
    ("/api/chat", json!({ "message": text }))
}

fn request((path, body): &(&str, Value), accept: &str) -> Request<Body> {
    Request::post(*path)
        .header("cf-connecting-ip", VISITOR)
        .header(header::ACCEPT, accept)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

async fn whole(site: &TestSite, asked: &(&str, Value)) -> Answer {
    site.send_request(request(asked, "application/json")).await
}

async fn events(site: &TestSite, asked: &(&str, Value)) -> Events {
    let response = site.open(request(asked, "text/event-stream")).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.headers().contains_key("ratelimit"), "it is charged like any other");
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    assert_eq!(
        (&response.headers()[header::VARY], &response.headers()[header::CACHE_CONTROL]),
        (&"accept".parse().unwrap(), &"no-store".parse().unwrap())
    );
    Events::of(response.into_body())
}

/// The text of the events, and the others.
fn joined(events: Vec<(String, Value)>) -> (String, Vec<(String, Value)>) {
    let (texts, others): (Vec<_>, Vec<_>) = events.into_iter().partition(|(name, _)| name == "text");
    (texts.iter().map(|(_, data)| data["text"].as_str().unwrap()).collect(), others)
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn the_pages_own_words_come_in_pieces_too() {
    let site = TestSite::new();
    for asked in [question("What is a key?"), message("What is a key?"), message("purple bananas gallop")] {
        let json = whole(&site, &asked).await.json();
        let expected = match json["passages"].as_array() {
            Some(found) => {
                found.iter().map(|found| found["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n\n")
            }
            None => json["reply"].as_str().unwrap().to_owned(),
        };
        let (text, others) = joined(events(&site, &asked).await.rest().await);
        assert_eq!(text, expected);
        assert_eq!(names(&others), ["summary", "done"]);
        let summary = &others[0].1;
        assert_eq!(summary["usage"]["estimated"], true);
        assert_eq!(summary["usage"]["completion_tokens"], expected.len().div_ceil(4));
        let page = json["page"].as_str().or(json["passages"][0]["page"].as_str());
        assert_eq!(summary["sources"][0].as_str(), page);
    }
    // A refusal is JSON, whatever was asked for.
    site.switch_store(false).await;
    site.send_request(request(&message("What is a key?"), "text/event-stream")).await.assert_problem(503);
}

/// A server that answers every completion with these bytes, in these chunks; what it was asked; and a sign that its client has left.
struct Endpoint {
    url: String,
    asked: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    left: Option<oneshot::Receiver<()>>,
}

impl Endpoint {
    async fn answering(status: u16, chunks: Vec<Vec<u8>>, stays_open: bool) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (leave, left) = oneshot::channel::<()>();
        let leave = Arc::new(Mutex::new(Some(leave)));
        let seen = Arc::clone(&asked);
        let answer = move |headers: HeaderMap, body: Bytes| async move {
            seen.lock().unwrap().push((headers, serde_json::from_slice(&body).unwrap()));
            let leave = leave.lock().unwrap().take();
            let chunks = stream::iter(chunks.into_iter().map(Ok::<_, std::io::Error>));
            let open = stream::pending().take(if stays_open { usize::MAX } else { 0 });
            // The sign is given when this body is dropped.
            let body = chunks.chain(open).map(move |chunk| {
                let _held = &leave;
                chunk
            });
            (
                StatusCode::from_u16(status).unwrap(),
                [(header::CONTENT_TYPE, "text/event-stream")],
                Body::from_stream(body),
            )
        };
        Self { url: served(post(answer)).await, asked, left: Some(left) }
    }

    async fn saying(said: &str) -> Self {
        // One byte a chunk: neither a line nor a letter comes whole.
        Self::answering(200, said.bytes().map(|byte| vec![byte]).collect(), false).await
    }

    /// Says the first, and then the others over and over, as fast as they are read.
    async fn never_ending(first: &str, again: &str) -> Self {
        let [first, again] = [first, again].map(|said| Bytes::from(said.to_owned()));
        let answer = move || async move {
            let body = stream::iter([first]).chain(stream::repeat(again)).map(Ok::<_, std::io::Error>);
            Body::from_stream(body)
        };
        Self { url: served(post(answer)).await, asked: Arc::default(), left: None }
    }

    fn site(&self) -> TestSite {
        self.site_within(Duration::from_secs(60))
    }

    fn site_within(&self, deadline: Duration) -> TestSite {
        let mut config = Config::development().unwrap();
        config.model = Some(Model::new(&self.url, Some("a-secret"), "small").unwrap().deadline(deadline));
        TestSite::with(config, Arc::new(MemoryStore::new()))
    }
}

/// The base URL of a server whose completions are answered so.
pub(crate) async fn served(answers: MethodRouter) -> String {
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        axum::serve(listener, Router::new().route("/v1/chat/completions", answers)).await.unwrap();
    });
    url
}

fn delta(text: &str) -> String {
    format!(
        "data: {}\n\n",
        json!({ "choices": [{ "index": 0, "delta": { "content": text } }], "usage": null })
    )
}

const COUNTED: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":120,\"completion_tokens\":9,\"total_tokens\":129}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn a_model_words_the_answer_and_its_usage_is_read() {
    let role = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    let said = [": hello\n\n", role, &delta("A key "), &delta("is naïve."), COUNTED, DONE].concat();
    let endpoint = Endpoint::saying(&said).await;
    let site = endpoint.site();
    let usage = json!({ "prompt_tokens": 120, "completion_tokens": 9, "estimated": false });

    let (text, others) = joined(events(&site, &message("What is a key?")).await.rest().await);
    assert_eq!((text.as_str(), names(&others)), ("A key is naïve.", vec!["summary", "done"]));
    assert_eq!(others[0].1["usage"], usage);
    let json = whole(&site, &message("What is a key?")).await.json();
    assert_eq!((&json["reply"], &json["usage"]), (&json!("A key is naïve."), &usage));
    let json = whole(&site, &question("What is a key?")).await.json();
    assert_eq!((&json["answer"], &json["usage"]), (&json!("A key is naïve."), &usage));
    assert!(!json["passages"].as_array().unwrap().is_empty());

    // Where no page speaks of it, nobody is asked.
    let json = whole(&site, &message("purple bananas gallop")).await.json();
    assert_eq!(json["usage"]["estimated"], true);
    let asked = endpoint.asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    for (headers, body) in asked.iter() {
        assert_eq!(headers[header::AUTHORIZATION], "Bearer a-secret");
        assert_eq!((&body["model"], &body["stream"]), (&json!("small"), &json!(true)));
        assert_eq!(body["stream_options"], json!({ "include_usage": true }));
        let prompt = body["messages"][1]["content"].as_str().unwrap();
        assert!(prompt.contains("<passage page=\"keys\">") && prompt.contains("What is a key?"), "{prompt}");
    }
}

#[tokio::test]
async fn a_model_that_does_not_count_is_estimated() {
    let finished = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    for end in [DONE, finished] {
        let endpoint = Endpoint::saying(&[&delta("twelve bytes"), end].concat()).await;
        let (_, others) = joined(events(&endpoint.site(), &message("What is a key?")).await.rest().await);
        assert_eq!(names(&others), ["summary", "done"], "{end}");
        assert_eq!(others[0].1["usage"]["completion_tokens"], 3);
        assert_eq!(others[0].1["usage"]["estimated"], true);
    }
}

#[tokio::test]
async fn what_a_model_leaves_empty_or_null_is_passed_over() {
    let nothing = [
        r#"{"choices":null}"#,
        r#"{"choices":[]}"#,
        r#"{"choices":[{"index":0,"delta":null,"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":null}}],"error":null}"#,
        r#"{"choices":[{"index":0,"delta":{"content":""}}],"usage":{}}"#,
        r#"{"usage":{"prompt_tokens":120,"completion_tokens":null}}"#,
        "{}",
        "",
        " ",
    ];
    let nothing: String = nothing.map(|data| format!("data: {data}\n\n")).concat();
    let said = [&nothing, &delta("A key "), &nothing, &delta("is text."), &nothing, COUNTED, &nothing, DONE]
        .concat();
    let endpoint = Endpoint::saying(&said).await;
    let (text, others) = joined(events(&endpoint.site(), &message("What is a key?")).await.rest().await);
    assert_eq!((text.as_str(), names(&others)), ("A key is text.", vec!["summary", "done"]));
    assert_eq!(others[0].1["usage"]["completion_tokens"], 9);
}

#[tokio::test]
async fn a_model_that_never_ends_is_cut_off() {
    // By time, however much it says that is nothing; by size, where it is one line without an end.
    let within = Duration::from_millis(300);
    for (again, deadline) in
        [(&*delta(""), within), (": still here\n\n", within), ("data: xxxxxxxxx", Duration::from_secs(60))]
    {
        let endpoint = Endpoint::never_ending(&delta("A key "), &again.repeat(500)).await;
        let site = endpoint.site_within(deadline);
        let (text, others) = joined(events(&site, &message("What is a key?")).await.rest().await);
        assert_eq!((text.as_str(), names(&others)), ("A key ", vec!["failed"]), "{again}");
    }
    // Nor does one that says nothing at all, whose client waits for the whole.
    let endpoint = Endpoint::answering(200, vec![], true).await;
    whole(&endpoint.site_within(within), &message("What is a key?")).await.assert_problem(502);
}

#[tokio::test]
async fn a_model_that_fails_half_way_is_said_to() {
    let long = delta(&"x".repeat(20_000));
    for broken in ["", "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", "data: nonsense\n\n", &long] {
        let endpoint = Endpoint::saying(&[&delta("A key "), broken].concat()).await;
        let site = endpoint.site();
        let (text, others) = joined(events(&site, &message("What is a key?")).await.rest().await);
        assert_eq!((text.as_str(), names(&others)), ("A key ", vec!["failed"]), "{broken}");
        whole(&site, &message("What is a key?")).await.assert_problem(502);
    }
}

#[tokio::test]
async fn a_model_that_refuses_or_is_gone_is_a_fault_behind_the_server() {
    for status in [401, 404, 429, 500, 307] {
        let endpoint = Endpoint::answering(status, vec![b"a-secret".to_vec()], false).await;
        let answer =
            endpoint.site().send_request(request(&message("What is a key?"), "text/event-stream")).await;
        answer.assert_problem(502);
        assert!(!answer.text.contains("a-secret") && !answer.text.contains("127.0.0.1"), "{}", answer.text);
    }
    let mut config = Config::development().unwrap();
    config.model = Some(Model::new("http://127.0.0.1:9", None, "small").unwrap());
    let site = TestSite::with(config, Arc::new(MemoryStore::new()));
    whole(&site, &question("What is a key?")).await.assert_problem(502);
}

#[tokio::test]
async fn a_client_that_leaves_stops_the_model() {
    let first = vec![delta("A key ").into_bytes()];
    let mut endpoint = Endpoint::answering(200, first, true).await;
    let mut events = events(&endpoint.site(), &message("What is a key?")).await;
    assert_eq!(events.next_of("text").await["text"], "A key ");
    drop(events);
    assert!(endpoint.left.take().unwrap().await.is_err(), "the model's connection is closed");
}
