//! What a request looks like, and what is shared between stores.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;
use tollgate_store::{Forget, Settle, SettleId, Store, StoreErrorKind, Take};
use tollgate_upstash::{Credentials, Prefix, UpstashConfigError, UpstashStore};

use crate::support::{Act, NOW, Received, Server, TOKEN, forget};

fn forgotten(received: &Received) -> Act {
    received.each(|_| json!({ "result": 1 }))
}

#[tokio::test]
async fn a_request_is_what_the_service_documents() {
    let server = Server::start(forgotten).await;
    let store = server.builder().prefix(Prefix::try_new("web-agents").unwrap()).build().unwrap();
    forget(&store, "a:b").await.unwrap();
    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("POST / HTTP/1.1\r\n"), "{}", seen.head);
    for (name, value) in [
        ("authorization", format!("Bearer {TOKEN}")),
        ("content-type", "application/json".to_owned()),
        ("upstash-encoding", "base64".to_owned()),
        ("host", server.address.to_string()),
    ] {
        assert_eq!(seen.header(name), Some(value.as_str()));
    }
    assert_eq!(seen.header("upstash-sync-token"), None);
    assert_eq!(seen.body[2], 4);
    assert_eq!(seen.body[3], "web-agents:ask:a:b:20422");
}

/// What concerns no key is answered here.
#[tokio::test]
async fn nothing_at_all_is_not_sent() {
    let server = Server::start(forgotten).await;
    let store = server.builder().build().unwrap();
    assert!(store.take(Take { charges: &[], now: NOW }).await.unwrap().is_admitted());
    store.settle(Settle { id: SettleId::new(1), corrections: &[], now: NOW }).await.unwrap();
    store.forget(Forget { targets: &[], now: NOW }).await.unwrap();
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_url_may_have_a_path() {
    let server = Server::start(forgotten).await;
    let credentials = Credentials::new(&format!("{}/redis/", server.url()), TOKEN).unwrap();
    let store = UpstashStore::builder(credentials).batching(false).build().unwrap();
    // The test's server only knows commands by themselves at `/`.
    let _ = forget(&store, "a").await;
    assert_eq!(server.seen()[0].path, "/redis/");
}

/// What the service said last is said back, by all stores of the client.
#[tokio::test]
async fn the_sync_token_is_said_back() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |received| {
        let mut act = forgotten(received);
        if let Act::Answer { headers, .. } = &mut act {
            match count.fetch_add(1, Ordering::Relaxed) {
                0 => *headers = "Upstash-Sync-Token: one\r\n".into(),
                1 => *headers = "upstash-sync-token: two\r\n".into(),
                2 => *headers = "upstash-sync-token: \r\n".into(),
                _ => {}
            }
        }
        act
    })
    .await;
    let (store, other) =
        (server.builder().build().unwrap(), server.builder().batching(false).build().unwrap());
    for store in [&store, &other, &store, &other, &store] {
        forget(store, "a").await.unwrap();
    }
    let seen = server.seen();
    let said: Vec<_> = seen.iter().map(|received| received.header("upstash-sync-token")).collect();
    assert_eq!(said, [None, Some("one"), Some("two"), Some("two"), Some("two")]);
}

#[tokio::test]
async fn ten_stores_of_one_database_share_a_connection() {
    let server = Server::start(forgotten).await;
    let stores: Vec<UpstashStore> = (0..10).map(|_| server.builder().build().unwrap()).collect();
    for store in &stores {
        forget(store, "a").await.unwrap();
    }
    assert_eq!((server.seen().len(), server.connections()), (10, 1));

    // Another token is another client.
    let credentials = Credentials::new(&server.url(), "another").unwrap();
    forget(&UpstashStore::new(credentials).unwrap(), "a").await.unwrap();
    assert_eq!(server.connections(), 2);
}

#[test]
fn what_cannot_be_kept_is_refused_when_a_store_is_built() {
    let builder = || UpstashStore::builder(Credentials::new("http://localhost", TOKEN).unwrap());
    let ms = Duration::from_millis;
    for (deadline, replay, fits) in [
        (None, None, true),
        (Some(ms(1)), None, true),
        (Some(ms(60_000)), None, true),
        (Some(ms(60_001)), None, false),
        (Some(Duration::MAX), None, false),
        (Some(Duration::ZERO), None, false),
        (None, Some(ms(2_000)), true),
        (None, Some(ms(1_999)), false),
        (None, Some(Duration::ZERO), false),
        (None, Some(Duration::MAX), true),
        (Some(ms(8_000)), Some(ms(10_000)), false),
        (Some(ms(8_000)), Some(ms(16_000)), true),
    ] {
        let mut builder = builder();
        if let Some(deadline) = deadline {
            builder = builder.deadline(deadline);
        }
        if let Some(replay) = replay {
            builder = builder.replay_for(replay);
        }
        let built = builder.build();
        assert_eq!(built.is_ok(), fits, "{deadline:?} {replay:?}: {built:?}");
        if let Err(error) = built {
            assert!(matches!(error, UpstashConfigError::Deadline { .. } | UpstashConfigError::Replay { .. }));
            assert!(error.to_string().contains("use "), "{error}");
        }
    }
}

#[test]
fn without_a_runtime_it_is_misuse() {
    let store = UpstashStore::new(Credentials::new("http://localhost", TOKEN).unwrap()).unwrap();
    let mut call = std::pin::pin!(forget(&store, "a"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = call.as_mut().poll(&mut context) else { panic!("it waits") };
    assert_eq!(error.kind(), StoreErrorKind::Misuse);
}
