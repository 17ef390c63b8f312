//! The token is never shown: not in errors, not by `Debug`, not in what any crate below logs.

use std::sync::{LazyLock, Mutex};

use log::{LevelFilter, Log, Metadata, Record};
use serde_json::json;
use tollgate_upstash::{Credentials, UpstashStore};

use crate::support::{Act, Server, TOKEN, chain, forget, take};

/// Everything that was logged, at every level.
struct Kept(Mutex<String>);

static KEPT: Kept = Kept(Mutex::new(String::new()));

impl Log for Kept {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let mut kept = self.0.lock().unwrap();
        *kept += &format!("{} {}\n", record.target(), record.args());
    }

    fn flush(&self) {}
}

static LOGGING: LazyLock<()> = LazyLock::new(|| {
    log::set_logger(&KEPT).unwrap();
    log::set_max_level(LevelFilter::Trace);
});

fn assert_hidden(text: &str) {
    assert!(!text.contains(TOKEN), "{text}");
    assert!(!text.contains("S3CRET"), "{text}");
}

#[tokio::test]
async fn the_token_is_in_no_error_no_debug_and_no_log() {
    LazyLock::force(&LOGGING);
    // What a careless proxy repeats, in every place where words can be.
    let acts = [
        Act::json(400, &json!({ "error": format!("ERR unknown token {TOKEN}") })),
        Act::json(401, &json!({ "error": TOKEN })),
        Act::json(500, &json!({ "error": TOKEN })),
        Act::json(200, &json!({ "result": TOKEN })),
        Act::text(502, &format!("<html>authorization: Bearer {TOKEN}</html>")),
        Act::text(200, TOKEN),
        Act::Raw(format!("{TOKEN}\r\n\r\n").into_bytes()),
        Act::Answer { status: 302, headers: format!("location: /{TOKEN}\r\n"), body: String::new() },
        Act::Answer { status: 200, headers: format!("upstash-sync-token: {TOKEN}\r\n"), body: "{}".into() },
        Act::Mute,
    ];
    for act in acts {
        for batching in [true, false] {
            let act = act.clone();
            let server = Server::start(move |_| act.clone()).await;
            let deadline = std::time::Duration::from_millis(250);
            let builder = server.builder().batching(batching).deadline(deadline);
            assert_hidden(&format!("{builder:?}"));
            let store = builder.build().unwrap();
            for error in [forget(&store, "a").await.unwrap_err(), take(&store, "a").await.unwrap_err()] {
                assert_hidden(&chain(&error));
            }
            assert_hidden(&format!("{store:?} {store:#?}"));
        }
    }
    // Letters alone, so that nothing but the knowledge of the token could tell it from words.
    let token = "abcdefghijklmnopqrstuvwxyz";
    let server = Server::start(move |_| Act::json(400, &json!({ "error": format!("ERR no {token}") }))).await;
    let store = UpstashStore::new(Credentials::new(&server.url(), token).unwrap()).unwrap();
    let error = forget(&store, "a").await.unwrap_err();
    assert!(!chain(&error).contains(token), "{error}");

    let logged = KEPT.0.lock().unwrap().clone();
    assert!(logged.contains("hyper") || logged.contains("reqwest"), "nothing was logged at all: {logged}");
    assert_hidden(&logged);
}
