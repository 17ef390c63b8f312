//! Servers that are killed and started again while many ask.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tollgate_guard::StoreErrorKind::{Busy, Timeout, Unreachable};
use tollgate_store::Store;
use tracing::instrument::WithSubscriber as _;

use crate::{
    Guarded, Log, RedisServer,
    guarded::{POLICIES, outage},
    wait::until,
};

const TASKS: usize = 63;
const ROUNDS: usize = 2;

/// What came of the checks, by policy.
#[derive(Debug, Default)]
struct Tally {
    counted: [AtomicU64; 3],
    failed: [AtomicU64; 3],
    is_over: AtomicBool,
}

/// Kills the server with `kill -9` and starts it again, twice, while many tasks check through one guard on this store, and
/// demands:
///
/// - each check is answered within the deadline: by the store, or as its policy says for a store that is gone;
/// - the same guard counts again once the server is back;
/// - each outage has one first and one last line in the guard's log, and in each of the `others`.
///
/// Runs on a Tokio runtime of several threads.
///
/// # Panics
/// If it is not so.
pub async fn survive_restarts<S: Store>(
    store: S,
    redis: &mut RedisServer,
    deadline: Duration,
    others: &[&Log],
) {
    let log = Log::default();
    let guarded = Arc::new(Guarded::new(store, deadline));
    let tally = Arc::new(Tally::default());
    let tasks: Vec<_> = (0..TASKS)
        .map(|at| load(Arc::clone(&guarded), Arc::clone(&tally), at).with_subscriber(log.dispatch()))
        .map(tokio::spawn)
        .collect();
    let logs = [&[&log], others].concat();
    for round in 1..=ROUNDS {
        grow(&tally.counted, "checks are counted").await;
        tokio::task::block_in_place(|| redis.kill());
        grow(&tally.failed, "checks meet the outage").await;
        tokio::task::block_in_place(|| redis.restart());
        grow(&tally.counted, "checks are counted again").await;
        until("the end of the outage is logged", || logs.iter().all(|log| log.lines().len() >= 2 * round))
            .await;
    }
    tally.is_over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.expect("no task panics");
    }
    guarded.demand_count("afterwards").await;
    for policy in &POLICIES {
        let begins = format!("limit:{}:afterwards:", policy.name());
        assert!(redis.keys().iter().any(|key| key.starts_with(&begins)), "{policy:?} is not in the server");
    }
    for log in logs {
        let lines = log.lines();
        assert_eq!(lines.len(), 2 * ROUNDS, "{lines:#?}");
        for pair in lines.chunks(2) {
            assert!(pair[0].contains("WARN") && pair[0].contains("outage begins"), "{lines:#?}");
            assert!(pair[1].contains("INFO") && pair[1].contains("over"), "{lines:#?}");
        }
    }
    let failed: u64 = read(&tally.failed).iter().sum();
    let logged: u64 =
        log.lines().iter().filter_map(|line| line.split_once("failures=")?.1.parse::<u64>().ok()).sum();
    assert_eq!(logged, failed, "each failed check is in the log's count");
}

async fn load<S: Store>(guarded: Arc<Guarded<S>>, tally: Arc<Tally>, at: usize) {
    let (policy, key) = (&POLICIES[at % 3], format!("visitor-{at}"));
    while !tally.is_over.load(Ordering::Relaxed) {
        let outcome = guarded.check(policy, &key, 1).await;
        let counters = match outage(policy, &outcome) {
            None => &tally.counted,
            Some(Unreachable | Timeout | Busy) => &tally.failed,
            Some(kind) => panic!("{kind} is not what a server that is gone says"),
        };
        counters[at % 3].fetch_add(1, Ordering::Relaxed);
        // Some failures are known without waiting.
        tokio::task::yield_now().await;
    }
}

/// Waits until each task of each policy could have had its part in the growth.
async fn grow(counters: &[AtomicU64; 3], what: &str) {
    let before = read(counters);
    let most = u64::try_from(TASKS).unwrap_or(u64::MAX);
    until(what, || read(counters).iter().zip(before).all(|(now, before)| now - before >= most)).await;
}

fn read(counters: &[AtomicU64; 3]) -> [u64; 3] {
    counters.each_ref().map(|counter| counter.load(Ordering::Relaxed))
}
