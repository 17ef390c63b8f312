//! Calls that share requests, and what stays each caller's own.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet, time::Instant};
use tollgate_store::StoreErrorKind;

use crate::support::{Act, Fate, Received, Scripted, Server, forget};

fn forgotten(received: &Received) -> Act {
    received.each(|_| json!({ "result": 1 }))
}

/// The first key of a command, which ends with the part that it was called with.
fn key(command: &Value) -> &str {
    command[3].as_str().unwrap()
}

/// Until `condition` holds; the test's runner knows when it never does.
async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_share_requests_and_each_has_its_own_answer() {
    // Each answer is an error that names its own command.
    let server = Server::start(|received| {
        received.each(|command| {
            let number = key(command).split(':').nth(2).unwrap();
            json!({ "error": format!("ERR number {}", number.replace(|c: char| c.is_ascii_digit(), "")) })
        })
    })
    .await;
    let store = server.builder().build().unwrap();
    let mut calls = JoinSet::new();
    for number in 0..512 {
        let (store, word) = (store.clone(), "x".repeat(number % 50 + 1));
        calls.spawn(async move {
            let error = forget(&store, &word).await.unwrap_err().to_string();
            assert!(error.contains(&format!("ERR number {word}`")), "{error}");
        });
    }
    calls.join_all().await;
    let sizes: Vec<usize> = server.seen().iter().map(|received| received.commands().len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 512);
    assert!(sizes.len() <= 128, "{} requests for 512 calls: {sizes:?}", sizes.len());
}

#[tokio::test]
async fn a_call_alone_is_a_plain_command() {
    let server = Server::start(forgotten).await;
    let store = server.builder().build().unwrap();
    forget(&store, "a").await.unwrap();
    assert_eq!(server.seen()[0].path, "/");
}

#[tokio::test]
async fn turned_off_each_call_is_a_request() {
    let server = Server::start(forgotten).await;
    let store = server.builder().batching(false).build().unwrap();
    let (one, other) = tokio::join!(forget(&store, "a"), forget(&store, "b"));
    one.and(other).unwrap();
    let paths: Vec<String> = server.seen().into_iter().map(|received| received.path).collect();
    assert_eq!(paths, ["/", "/"]);
}

/// While the service lets no request go, callers pile up: the requests stay few and the batches bounded.
#[tokio::test]
async fn requests_and_batches_are_bounded() {
    let permits = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&permits);
    let server =
        Server::start(move |received| Act::Hold(Arc::clone(&held), Box::new(forgotten(received)))).await;
    let store = server.builder().deadline(Duration::from_secs(30)).build().unwrap();
    let mut calls = JoinSet::new();
    // One request each, until no more are in flight at once.
    for number in 0..16 {
        let store = store.clone();
        calls.spawn(async move { forget(&store, "a").await });
        until(|| server.seen().len() == number + 1).await;
    }
    for _ in 0..2_500 {
        let store = store.clone();
        calls.spawn(async move { forget(&store, "b").await });
    }
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.seen().len(), 16);
    permits.add_permits(100);
    for answer in calls.join_all().await {
        answer.unwrap();
    }
    let sizes: Vec<usize> = server.seen().iter().map(|received| received.commands().len()).collect();
    assert_eq!((sizes.iter().sum::<usize>(), sizes.iter().max()), (2_516, Some(&1_000)));
    assert!(sizes.len() <= 24, "{sizes:?}");
}

#[tokio::test]
async fn long_commands_make_short_batches() {
    let server = Server::start(forgotten).await;
    let store = server.builder().deadline(Duration::from_secs(30)).build().unwrap();
    let word = "{".repeat(256); // escaped, three times as long
    let calls = (0..1_000).map(|_| forget(&store, &word));
    for answer in futures_util::future::join_all(calls).await {
        answer.unwrap();
    }
    for received in server.seen() {
        assert!(received.body.to_string().len() < 1_100_000);
    }
}

#[tokio::test]
async fn an_error_stays_its_callers() {
    let server = Server::start(|received| {
        received.each(|command| match key(command).split(':').nth(2) {
            Some("wrong") => json!({ "error": "WRONGTYPE no" }),
            Some("garbled") => json!({ "result": [1.5, {}] }),
            Some("absent") => json!({}),
            _ => json!({ "result": 1 }),
        })
    })
    .await;
    let store = server.builder().build().unwrap();
    let (one, wrong, garbled, absent, other) = tokio::join!(
        forget(&store, "one"),
        forget(&store, "wrong"),
        forget(&store, "garbled"),
        forget(&store, "absent"),
        forget(&store, "other"),
    );
    assert_eq!(server.seen().len(), 1);
    one.and(other).unwrap();
    assert_eq!(wrong.unwrap_err().kind(), StoreErrorKind::Reject);
    assert_eq!(garbled.unwrap_err().kind(), StoreErrorKind::Garbage);
    assert_eq!(absent.unwrap_err().kind(), StoreErrorKind::Garbage);
}

/// Who gives up before his command was sent is not counted; who gives up afterwards takes nothing from the others.
#[tokio::test]
async fn a_dropped_call_poisons_nobody() {
    let permits = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&permits);
    let server =
        Server::start(move |received| Act::Hold(Arc::clone(&held), Box::new(forgotten(received)))).await;
    let store = server.builder().build().unwrap();
    let spawn = |part: &'static str| {
        let store = store.clone();
        tokio::spawn(async move { forget(&store, part).await })
    };

    // The one that starts the sender is gone before the sender runs.
    let mut first = Box::pin(forget(&store, "never"));
    assert!(futures_util::poll!(&mut first).is_pending());
    drop(first);
    let (stays, goes) = (spawn("stays"), spawn("goes"));
    until(|| server.seen().len() == 1).await;
    goes.abort();
    assert!(goes.await.unwrap_err().is_cancelled());
    permits.add_permits(10);
    stays.await.unwrap().unwrap();
    forget(&store, "later").await.unwrap();

    let sent: BTreeSet<String> = server
        .seen()
        .iter()
        .flat_map(|received| {
            received.commands().into_iter().map(|command| key(command).to_owned()).collect::<Vec<_>>()
        })
        .map(|key| key.split(':').nth(2).unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["goes", "later", "stays"].map(str::to_owned).into());
}

/// One request for a patient and an impatient caller: each waits for as long as it said.
#[tokio::test]
async fn a_deadline_stays_its_callers() {
    let permits = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&permits);
    let server =
        Server::start(move |received| Act::Hold(Arc::clone(&held), Box::new(forgotten(received)))).await;
    // One client, since the credentials are the same.
    let patient = server.builder().deadline(Duration::from_secs(20)).build().unwrap();
    let impatient = server.builder().deadline(Duration::from_millis(100)).build().unwrap();
    let start = Instant::now();
    let (patient, impatient) = tokio::join!(forget(&patient, "a"), async {
        let answer = forget(&impatient, "b").await;
        let took = start.elapsed();
        permits.add_permits(10);
        (answer, took)
    });
    patient.unwrap();
    assert_eq!(impatient.0.unwrap_err().kind(), StoreErrorKind::Timeout);
    assert!(impatient.1 < Duration::from_secs(2), "{:?}", impatient.1);
    assert_eq!(server.seen().len(), 1);
}

/// A runtime that ends takes its tasks with it. Whoever waits on another one has the command sent from there.
#[test]
fn a_runtime_that_ends_leaves_nobody_waiting() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (servers, callers) = (runtime(), runtime());
    let mute = AtomicUsize::new(1);
    let server = servers.block_on(Server::start(move |received| {
        match mute.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => Act::Mute,
            Err(_) => forgotten(received),
        }
    }));
    std::thread::scope(|scope| {
        let store = server.builder().build().unwrap();
        let seen = || server.seen().len();
        let (ended, has_ended) = std::sync::mpsc::channel();
        let serving = scope.spawn(move || {
            servers.block_on(async move {
                while has_ended.try_recv().is_err() {
                    tokio::task::yield_now().await;
                }
            });
        });
        // A sender whose runtime ends while the service is mute, and one whose runtime ends before it has run.
        let ending = runtime();
        let mut first = Box::pin(forget(&store, "first"));
        ending.block_on(async {
            assert!(futures_util::poll!(&mut first).is_pending());
            while seen() == 0 {
                tokio::task::yield_now().await;
            }
            assert!(futures_util::poll!(Box::pin(forget(&store, "second"))).is_pending());
        });
        let mut third = Box::pin(forget(&store, "third"));
        callers.block_on(async { assert!(futures_util::poll!(&mut third).is_pending()) });
        ending.shutdown_background();
        callers.block_on(third).unwrap();
        callers.block_on(first).unwrap();
        ended.send(()).unwrap();
        serving.join().unwrap();
    });
}

/// A sender whose thread is busy with something else is not waited for: the next call that comes by takes everything along.
#[test]
fn a_thread_that_is_busy_holds_up_nobody() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (busy, other) = (runtime(), runtime());
    let server = other.block_on(Server::start(forgotten));
    let store = server.builder().build().unwrap();
    let mut first = Box::pin(forget(&store, "first"));
    // The sender is started there, and nothing runs there any more.
    busy.block_on(async { assert!(futures_util::poll!(&mut first).is_pending()) });
    let start = Instant::now();
    while start.elapsed() <= Duration::from_millis(6) {
        std::hint::spin_loop();
    }
    other.block_on(forget(&store, "second")).unwrap();
    assert_eq!(server.seen().len(), 1);
    assert_eq!(server.seen()[0].commands().len(), 2);
    busy.block_on(first).unwrap();
}

/// Runtimes that nobody drives any more, as of threads that have one each, hold their senders where they are. They hold up nobody
/// else for longer than what was sent from there could take.
#[test]
fn runtimes_that_stand_still_hold_up_nobody() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let scripted = Scripted::new((0..16).map(|_| (0, Fate::Silence)));
    let store = scripted.builder().deadline(Duration::from_millis(50)).build().unwrap();
    let (mut still, mut calls) = (Vec::new(), Vec::new());
    for number in 1..=16 {
        let (runtime, mut call) = (runtime(), Box::pin(forget(&store, "a")));
        runtime.block_on(async {
            assert!(futures_util::poll!(&mut call).is_pending());
            until(|| scripted.times().len() == number).await;
        });
        still.push(runtime);
        calls.push(call);
    }
    let start = Instant::now();
    let answer = runtime().block_on(async {
        loop {
            let answer = forget(&store, "b").await;
            if answer.is_ok() || start.elapsed() > Duration::from_secs(10) {
                break answer;
            }
        }
    });
    answer.unwrap();
    drop((still, calls));
    runtime().block_on(forget(&store, "c")).unwrap();
}
