//! A server that does not know a script is sent its text.

use std::{collections::BTreeSet, sync::Mutex};

use serde_json::{Value, json};
use tollgate_script::{Dialect, Script};
use tollgate_store::StoreErrorKind;

use crate::support::{Act, Received, Server, forget};

/// A server that knows the scripts it was sent, as Redis does, and forgets them before each request of these numbers.
async fn remembering(flushes: &'static [usize]) -> Server {
    let state = Mutex::new((0, BTreeSet::new()));
    Server::start(move |received| {
        let (requests, known) = &mut *state.lock().unwrap();
        if flushes.contains(requests) {
            known.clear();
        }
        *requests += 1;
        received.each(|command| run(command, known))
    })
    .await
}

fn run(command: &Value, known: &mut BTreeSet<String>) -> Value {
    let script = command[1].as_str().unwrap();
    match command[0].as_str().unwrap() {
        "EVAL" => {
            let script =
                Script::ALL.into_iter().find(|known| known.text(Dialect::Upstash) == script).unwrap();
            known.insert(script.sha1(Dialect::Upstash).to_owned());
        }
        "EVALSHA" if known.contains(script) => {}
        _ => return json!({ "error": "NOSCRIPT No matching script. Please use EVAL." }),
    }
    json!({ "result": 1 })
}

fn names(received: &Received) -> Vec<&str> {
    received.commands().into_iter().map(|command| command[0].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_script_is_sent_when_it_is_not_known() {
    for batching in [true, false] {
        let server = remembering(&[4]).await;
        let store = server.builder().batching(batching).build().unwrap();
        for _ in 0..4 {
            forget(&store, "a").await.unwrap();
        }
        let names: Vec<String> = server.seen().iter().map(|received| names(received).join(" ")).collect();
        assert_eq!(names, ["EVALSHA", "EVAL", "EVALSHA", "EVALSHA", "EVALSHA", "EVAL"]);
    }
}

/// In a pipeline too, and the text is in it once, however many calls want it.
#[tokio::test]
async fn a_pipeline_brings_a_text_once() {
    let server = remembering(&[2]).await;
    let store = server.builder().build().unwrap();
    for _ in 0..2 {
        let calls = (0..50).map(|_| forget(&store, "a"));
        for answer in futures_util::future::join_all(calls).await {
            answer.unwrap();
        }
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    for (at, received) in seen.iter().enumerate() {
        let texts = names(received).iter().filter(|name| **name == "EVAL").count();
        assert_eq!((names(received).len(), texts), (50, at % 2), "request {at}");
    }
}

/// If what brings the text fails before the server has read it, each asks for it itself.
#[tokio::test]
async fn a_text_that_was_lost_is_sent_by_each() {
    let server = Server::start(|received| {
        let mut texts = 0;
        received.each(|command| {
            texts += usize::from(command[0] == "EVAL");
            match command[0].as_str() {
                Some("EVAL") if texts == 1 && received.commands().len() == 3 => {
                    json!({ "error": "ERR lost" })
                }
                Some("EVAL") => json!({ "result": 1 }),
                _ => json!({ "error": "NOSCRIPT No matching script." }),
            }
        })
    })
    .await;
    let store = server.builder().build().unwrap();
    let answers = futures_util::future::join_all(["a", "b", "c"].map(|part| forget(&store, part))).await;
    let failed: Vec<_> = answers.into_iter().filter_map(Result::err).map(|error| error.kind()).collect();
    assert_eq!(failed, [StoreErrorKind::Reject], "the error is that of the one who brought the text");
}

#[tokio::test]
async fn a_server_that_forgets_at_once_is_not_asked_for_ever() {
    for batching in [true, false] {
        let noscript = json!({ "error": "NOSCRIPT No matching script. Please use EVAL." });
        let server = Server::start(move |_| Act::json(400, &noscript)).await;
        let store = server.builder().batching(batching).build().unwrap();
        assert_eq!(forget(&store, "a").await.unwrap_err().kind(), StoreErrorKind::Busy);
        assert_eq!(server.seen().len(), 3);
    }
}
