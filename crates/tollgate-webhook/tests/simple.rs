//! The simple mode: one literal mark for each id, for a day, shared with programs that only set it.

use std::{sync::Arc, time::Duration};

use tollgate_guard::{Clock as _, ManualClock};
use tollgate_memory::MemoryStore;
use tollgate_redis::RedisStore;
use tollgate_store::Hold;
use tollgate_testbed::{RedisServer, Value};
use tollgate_webhook::{Begin, Deliveries, OnClaimOutage};

use crate::deliveries::{first, id};

fn simple(server: &RedisServer) -> (Deliveries, ManualClock) {
    let clock = ManualClock::at_unix_ms(1_796_040_000_000);
    let store = RedisStore::builder(&server.url()).deadline(Duration::from_secs(20)).build().unwrap();
    let now = clock.clone();
    let builder = Deliveries::builder("github", store, OnClaimOutage::Unavailable, move || now.now());
    (builder.simple("github-delivery:").build().unwrap(), clock)
}

#[tokio::test]
async fn a_mark_is_set_at_once_and_lives_for_a_day() {
    let server = RedisServer::start();
    let (deliveries, clock) = simple(&server);
    let delivery = first(&deliveries, &id("72d3162e")).await.unwrap();
    assert_eq!(server.keys(), ["github-delivery:72d3162e"]);
    let Value::Int(lives) = server.run(&["PTTL", "github-delivery:72d3162e"]) else { panic!("a number") };
    assert!((86_370_000..=86_401_000).contains(&lives), "{lives}");
    assert!(matches!(deliveries.begin("17", &id("72d3162e")).await, Begin::Duplicate), "also while it runs");
    assert!(matches!(deliveries.begin("18", &id("72d3162e")).await, Begin::Duplicate), "for any hook");
    assert_eq!(delivery.confirm().await.unwrap(), Hold::Ours);
    assert!(matches!(deliveries.begin("17", &id("72d3162e")).await, Begin::Duplicate));
    clock.advance(Duration::from_secs(86_400));
    assert!(first(&deliveries, &id("72d3162e")).await.is_some());
}

#[tokio::test]
async fn a_mark_of_another_program_counts_and_ours_counts_there() {
    let server = RedisServer::start();
    let (deliveries, _) = simple(&server);
    let theirs = |id: &str| {
        let key = format!("github-delivery:{id}");
        server.run(&["SET", &key, "1", "NX", "EX", "86400"])
    };
    assert_eq!(theirs("a"), Value::Okay);
    assert!(matches!(deliveries.begin("17", &id("a")).await, Begin::Duplicate));
    let delivery = first(&deliveries, &id("b")).await.unwrap();
    assert_eq!(theirs("b"), Value::Nil);
    delivery.release().await.unwrap();
    assert_eq!(theirs("b"), Value::Okay, "what failed is free again");
}

#[tokio::test]
async fn a_memory_that_is_full_of_what_is_done_goes_on() {
    let store = Arc::new(MemoryStore::with_capacity(MemoryStore::LEAST_CAPACITY).unwrap());
    let now = ManualClock::at_unix_ms(1_796_040_000_000);
    let claims = Arc::clone(&store);
    let deliveries = Deliveries::builder("github", claims, OnClaimOutage::Unavailable, move || now.now())
        .simple("github-delivery:")
        .build()
        .unwrap();
    let running = first(&deliveries, &id("running")).await.unwrap();
    for number in 0..3 * MemoryStore::LEAST_CAPACITY {
        let delivery = first(&deliveries, &id(&format!("{number}"))).await.expect("there is room");
        assert_eq!(delivery.confirm().await.unwrap(), Hold::Ours);
    }
    assert!(first(&deliveries, &id("running")).await.is_none());
    assert_eq!(running.confirm().await.unwrap(), Hold::Ours);
    assert_eq!(store.stats().claims, MemoryStore::LEAST_CAPACITY);
}
