//! When a request is sent again, and how often: on a clock that the tests let run.

use std::{error::Error, time::Duration};

use futures_util::future::join_all;
use tokio::time::Instant;
use tollgate_store::StoreErrorKind::{self, Busy, Timeout, Unreachable};

use crate::support::{Fate, Scripted, forget, take};

/// What becomes of the requests, when they are sent, and when and with what the call ends.
type Row = (&'static [(u64, Fate)], &'static [u128], u128, Option<StoreErrorKind>);

const BACK: Option<StoreErrorKind> = None;

/// All within a deadline of one second.
const ROWS: &[Row] = &[
    (&[], &[0], 0, BACK),
    (&[(700, Fate::Answer)], &[0], 700, BACK),
    // A service that comes back is used; one that does not is left after two more tries.
    (&[(0, Fate::Status(503))], &[0, 100], 100, BACK),
    (&[(0, Fate::Break), (5, Fate::Status(502))], &[0, 100, 205], 205, BACK),
    (&[(0, Fate::Status(500)), (0, Fate::Break), (0, Fate::Status(503))], &[0, 100, 200], 200, Some(Busy)),
    (&[(0, Fate::Break), (0, Fate::Break), (0, Fate::Break)], &[0, 100, 200], 200, Some(Unreachable)),
    // Only what did not reach the service is sent again.
    (&[(0, Fate::Status(404))], &[0], 0, Some(StoreErrorKind::Reject)),
    (&[(0, Fate::Status(429))], &[0], 0, Some(Busy)),
    // One deadline over all of it.
    (&[(0, Fate::Silence)], &[0], 1_000, Some(Timeout)),
    (&[(300, Fate::Status(503)), (0, Fate::Silence)], &[0, 400], 1_000, Some(Timeout)),
    (&[(899, Fate::Break)], &[0, 999], 999, BACK),
    // Nobody waits for a try that would begin after it.
    (&[(900, Fate::Break)], &[0], 900, Some(Unreachable)),
    (&[(450, Fate::Status(503)), (350, Fate::Status(504))], &[0, 550], 900, Some(Busy)),
];

#[tokio::test(start_paused = true)]
async fn tries_are_few_and_all_within_one_deadline() {
    for batching in [true, false] {
        for &(fates, times, end, kind) in ROWS {
            let transport = Scripted::new(fates.iter().copied());
            let store = transport.builder().batching(batching).build().unwrap();
            let start = Instant::now();
            let answer = forget(&store, "a").await;
            assert_eq!(answer.err().map(|error| error.kind()), kind, "{fates:?}");
            assert_eq!(transport.times(), times, "{fates:?}, batching: {batching}");
            // The timer counts in whole milliseconds and may be one late.
            let took = start.elapsed().as_millis();
            assert!((end..=end + 2).contains(&took), "{fates:?}: {took} ms");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_says_what_was_tried_before() {
    let transport = Scripted::new([(0, Fate::Status(503)), (0, Fate::Silence)]);
    let store = transport.builder().deadline(Duration::from_millis(400)).build().unwrap();
    let error = forget(&store, "a").await.unwrap_err();
    assert_eq!(error.kind(), Timeout);
    assert!(error.to_string().contains("400 ms"), "{error}");
    assert!(error.source().unwrap().to_string().contains("status 503"));
}

/// What a server needs to count a take once: every time it is sent it is the same, and no two takes are.
#[tokio::test(start_paused = true)]
async fn a_take_is_sent_again_unchanged() {
    for batching in [true, false] {
        let transport = Scripted::new([(0, Fate::Status(500)); 6]);
        let store = transport.builder().batching(batching).build().unwrap();
        for _ in 0..2 {
            assert_eq!(take(&store, "a").await.unwrap_err().kind(), Busy);
        }
        let bodies = transport.bodies();
        assert_eq!(bodies.len(), 6);
        assert!(bodies[..3].iter().all(|body| *body == bodies[0]));
        assert!(bodies[3..].iter().all(|body| *body == bodies[3]));
        assert_ne!(bodies[0], bodies[3]);
    }
}

/// Those whose request failed together share the next one too.
#[tokio::test(start_paused = true)]
async fn callers_try_again_together() {
    let transport = Scripted::new([(0, Fate::Break), (0, Fate::Status(503))]);
    let store = transport.builder().build().unwrap();
    let parts: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    for answer in join_all(parts.iter().map(|part| forget(&store, part))).await {
        answer.unwrap();
    }
    assert_eq!(transport.times(), [0, 100, 200]);
}

/// While 16 requests hang, a call waits in the queue. Whoever gives up there has nothing sent.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_in_vain_is_never_sent() {
    let transport = Scripted::new([(0, Fate::Silence); 16]);
    let store = transport.builder().build().unwrap();
    let spawn = |part: &'static str| {
        let store = store.clone();
        tokio::spawn(async move { forget(&store, part).await })
    };
    let mut hanging = Vec::new();
    for number in 0..16 {
        hanging.push(spawn("hangs"));
        while transport.times().len() <= number {
            tokio::task::yield_now().await;
        }
    }
    let waiting = spawn("waits");
    tokio::task::yield_now().await;
    waiting.abort();
    for call in hanging {
        assert_eq!(call.await.unwrap().unwrap_err().kind(), Timeout);
    }
    forget(&store, "later").await.unwrap();
    let bodies = transport.bodies();
    assert_eq!(bodies.len(), 17);
    assert!(!bodies.iter().any(|body| String::from_utf8_lossy(body).contains("waits")));
}
