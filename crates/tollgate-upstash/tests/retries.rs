//! When a request is sent again, and how often.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;
use tollgate_store::StoreErrorKind;

use crate::support::{Act, Received, Server, forget, take};

/// A server whose first requests fail, each in the next of these ways.
async fn failing_first(faults: Vec<Act>, then: impl Fn(&Received) -> Act + Send + Sync + 'static) -> Server {
    let count = AtomicUsize::new(0);
    Server::start(move |received| match faults.get(count.fetch_add(1, Ordering::Relaxed)) {
        Some(fault) => fault.clone(),
        None => then(received),
    })
    .await
}

fn forgotten(received: &Received) -> Act {
    received.each(|_| json!({ "result": 1 }))
}

#[tokio::test]
async fn a_service_that_is_back_is_used() {
    let faults = [Act::text(503, ""), Act::Break(Vec::new()), Act::text(502, "<html>")];
    for batching in [true, false] {
        for count in 0..=2 {
            let server = failing_first(faults[..count].to_vec(), forgotten).await;
            let store = server.builder().batching(batching).build().unwrap();
            let start = Instant::now();
            forget(&store, "a").await.unwrap();
            assert_eq!(server.seen().len(), count + 1);
            let pauses = Duration::from_millis(100) * u32::try_from(count).unwrap();
            assert!(start.elapsed() >= pauses, "{count} pauses in {:?}", start.elapsed());
        }
    }
}

#[tokio::test]
async fn nothing_is_sent_again_that_could_not_be_answered_in_time() {
    let server = Server::start(|_| Act::text(503, "")).await;
    let store = server.builder().deadline(Duration::from_millis(90)).build().unwrap();
    let start = Instant::now();
    assert_eq!(forget(&store, "a").await.unwrap_err().kind(), StoreErrorKind::Busy);
    assert!(start.elapsed() < Duration::from_millis(90), "waiting for the deadline helps nobody");
    assert_eq!(server.seen().len(), 1);
}

/// The deadline is one over all tries.
#[tokio::test]
async fn a_mute_server_after_a_failure_is_not_waited_for_longer() {
    let server = failing_first(vec![Act::text(503, "")], |_| Act::Mute).await;
    let store = server.builder().deadline(Duration::from_millis(400)).build().unwrap();
    let start = Instant::now();
    let error = forget(&store, "a").await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Timeout);
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("status 503"));
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(390) && took < Duration::from_millis(700), "{took:?}");
}

/// What a server needs to count a take once: every time it is sent it is the same, and no two takes are.
#[tokio::test]
async fn a_take_is_sent_again_unchanged() {
    let fault = Act::text(503, "");
    for batching in [true, false] {
        let server = failing_first(vec![fault.clone(), fault.clone()], |_| Act::text(500, "")).await;
        let store = server.builder().batching(batching).build().unwrap();
        take(&store, "a").await.unwrap_err();
        take(&store, "a").await.unwrap_err();
        let bodies: Vec<Value> = server.seen().into_iter().map(|received| received.body).collect();
        assert_eq!(bodies.len(), 6);
        assert!(bodies[..3].iter().all(|body| *body == bodies[0]));
        assert!(bodies[3..].iter().all(|body| *body == bodies[3]));
        assert_ne!(bodies[0], bodies[3]);
    }
}
