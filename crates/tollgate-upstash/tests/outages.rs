//! What a real Redis behind a real gateway can do, and what must not be counted twice.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;
use tollgate_core::Units;
use tollgate_store::{
    Charge, Correction, Decisions, Key, Name, Part, Settle, SettleId, Store,
    StoreErrorKind::{self, Busy, Reject, Timeout, Unreachable},
    Take,
};
use tollgate_testbed::{Guarded, Proxy, READ_ONLY_TOKEN, survive_restarts};
use tollgate_upstash::{Credentials, UpstashStore};

use crate::support::{LIMIT, NOW, Served, TOKEN, chain, forget, served, take};

/// What a store has that is served here.
const TIME: Duration = Duration::from_secs(30);

/// A store behind a proxy that can lose answers.
fn lossy(served: &Served, batching: bool) -> (Proxy, UpstashStore) {
    let proxy = Proxy::start(served.gateway.address());
    let credentials = Credentials::new(&format!("http://{}", proxy.address()), TOKEN).unwrap();
    let store = UpstashStore::builder(credentials).batching(batching).build().unwrap();
    (proxy, store)
}

#[tokio::test]
async fn an_answer_that_is_lost_is_counted_once() {
    for batching in [true, false] {
        let served = served(|builder| builder);
        let (proxy, store) = lossy(&served, batching);
        let _ = take(&store, "warm").await.unwrap();
        // With each answer a connection is lost.
        for (lost, connections, remaining) in [(0, 1, 14), (1, 2, 13), (2, 4, 12), (0, 4, 11)] {
            proxy.lose(lost);
            let decisions = take(&store, "a").await.unwrap();
            assert!(decisions.is_admitted());
            assert_eq!((decisions[0].remaining(), proxy.connections()), (remaining, connections));
        }
        // All three answers to one take: nobody knows, and it is counted once all the same.
        proxy.lose(3);
        assert_eq!(take(&store, "a").await.unwrap_err().kind(), Unreachable);
        assert_eq!(take(&store, "a").await.unwrap()[0].remaining(), 9);
    }
}

/// A refusal that is lost is asked for again, and takes no part of what has become free since.
#[tokio::test]
async fn a_refusal_that_is_lost_counts_nothing() {
    let served = served(|builder| builder);
    let (proxy, store) = lossy(&served, true);
    for _ in 0..15 {
        let _ = take(&store, "a").await.unwrap();
    }
    proxy.lose(2);
    assert!(!take(&store, "a").await.unwrap().is_admitted());
    forget(&store, "a").await.unwrap();
    assert_eq!(take(&store, "a").await.unwrap()[0].remaining(), 14);
}

#[tokio::test]
async fn answers_that_are_lost_together_are_counted_once_each() {
    let served = served(|builder| builder);
    let (proxy, store) = lossy(&served, true);
    let _ = take(&store, "warm").await.unwrap();
    proxy.lose(1);
    let parts: Vec<String> = (0..50).map(|number| format!("visitor {}", number % 5)).collect();
    let answers = join_all(parts.iter().map(|part| take(&store, part))).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(Decisions::is_admitted)));
    assert!(proxy.connections() >= 2, "nothing was lost");
    for part in &parts[..5] {
        assert_eq!(take(&store, part).await.unwrap()[0].remaining(), 4);
    }
}

#[tokio::test]
async fn a_settlement_that_is_lost_is_applied_once() {
    let served = served(|builder| builder);
    let (proxy, store) = lossy(&served, true);
    let parts = [Part::Text("a")];
    let key = Key::new(Name::new("ask"), &parts);
    let charge = Charge { cost: Units::new(10), ..Charge::new(key, LIMIT) };
    let taken = store.take(Take { charges: &[charge], now: NOW }).await.unwrap();
    let correction = Correction { key, limit: LIMIT, stamp: taken[0].stamp(), delta: -3 };
    proxy.lose(2);
    store.settle(Settle { id: SettleId::new(7), corrections: &[correction], now: NOW }).await.unwrap();
    assert_eq!(take(&store, "a").await.unwrap()[0].remaining(), 7);
}

/// Scripts that are flushed while calls are under way: each call succeeds, and none is counted twice.
#[tokio::test]
async fn a_server_that_forgets_its_scripts_stops_nobody() {
    for batching in [true, false] {
        let served = served(|builder| builder.batching(batching));
        let parts: Vec<String> = (0..40).map(|number| format!("visitor {number}")).collect();
        for round in 0..5 {
            served.redis.run(&["SCRIPT", "FLUSH"]);
            let answers = join_all(parts.iter().map(|part| take(&served, part))).await;
            for answer in answers {
                assert_eq!(answer.unwrap()[0].remaining(), 14 - round);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_a_kill_and_a_restart_cost_outage_decisions_and_nothing_else() {
    const DEADLINE: Duration = Duration::from_secs(1);
    for batching in [true, false] {
        let mut served = served(|builder| builder.batching(batching).deadline(DEADLINE));
        let store = served.store.clone();
        survive_restarts(store, &mut served.redis, DEADLINE, &[served.gateway.log()]).await;
    }
}

#[tokio::test]
async fn a_redis_that_is_mute_is_given_up_at_the_deadline() {
    let served = served(|builder| builder.deadline(Duration::from_millis(300)));
    let _ = take(&served, "a").await.unwrap();
    served.redis.pause();
    let start = Instant::now();
    let error = take(&served, "a").await.unwrap_err();
    let took = start.elapsed();
    served.redis.resume();
    assert_eq!(error.kind(), Timeout, "{}", chain(&error));
    assert!(took < Duration::from_secs(3), "{took:?}");
    let start = Instant::now();
    while take(&served, "b").await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(5), "it does not recover");
    }
}

#[tokio::test]
async fn what_redis_refuses_is_an_error_of_its_own() {
    let set_ups: [(&str, &[&[&str]], StoreErrorKind, &str); 3] = [
        ("WRONGTYPE", &[&["LPUSH", "limit:ask:a:20423", "x"]], Reject, "another type"),
        ("OOM", &[&["CONFIG", "SET", "maxmemory", "1"]], Busy, "memory"),
        (
            "READONLY",
            &[&["CONFIG", "SET", "replica-serve-stale-data", "yes"], &["REPLICAOF", "127.0.0.1", "1"]],
            Busy,
            "replica",
        ),
    ];
    for (name, commands, kind, words) in set_ups {
        for batching in [true, false] {
            let served = served(|builder| builder.batching(batching));
            for command in commands {
                served.redis.run(command);
            }
            for _ in 0..2 {
                let error = take(&served, "a").await.expect_err(name);
                assert_eq!(error.kind(), kind, "{name}: {}", chain(&error));
                assert!(error.to_string().contains(words), "{name}: {error}");
            }
            if name != "WRONGTYPE" {
                Guarded::new(served.store.clone(), TIME).demand_outage(kind, name).await;
            }
        }
    }
}

#[tokio::test]
async fn a_token_that_cannot_count_is_named() {
    let served = served(|builder| builder);
    for (token, words) in [(READ_ONLY_TOKEN, "read-only token"), ("unknown", "token")] {
        for batching in [true, false] {
            let credentials = Credentials::new(&served.gateway.url(), token).unwrap();
            let store = UpstashStore::builder(credentials).batching(batching).build().unwrap();
            for answer in join_all(["a", "b"].map(|part| take(&store, part))).await {
                let error = answer.unwrap_err();
                assert_eq!(error.kind(), Reject, "{}", chain(&error));
                assert!(error.to_string().contains(words), "{error}");
            }
            Guarded::new(store, UpstashStore::DEADLINE).demand_outage(Reject, words).await;
        }
    }
}
