//! The simple mode: one literal mark for each id, for a day, shared with programs that only set it.

use std::{sync::Arc, time::Duration};

use tollgate_guard::{Clock as _, ManualClock};
use tollgate_memory::MemoryStore;
use tollgate_store::{Claims, Hold};
use tollgate_testbed::Value;
use tollgate_webhook::{Begin, Deliveries, OnClaimOutage};

use crate::{
    deliveries::{first, id},
    places::{Place, on_every_store},
};

on_every_store! {
    a_mark_is_set_at_once_and_lives_for_a_day
    what_failed_is_free_again
    of_many_at_once_one_is_first
    a_mark_of_another_program_counts_and_ours_counts_there
}

fn simple(claims: impl Claims) -> (Deliveries, ManualClock) {
    let clock = ManualClock::at_unix_ms(1_796_040_000_000);
    let now = clock.clone();
    let builder = Deliveries::builder("github", claims, OnClaimOutage::Unavailable, move || now.now());
    (builder.simple("github-delivery:").build().unwrap(), clock)
}

async fn a_mark_is_set_at_once_and_lives_for_a_day(place: Place) {
    let (deliveries, clock) = simple(place.claims);
    let delivery = first(&deliveries, &id("72d3162e")).await.unwrap();
    if let Some(server) = &place.server {
        assert_eq!(server.keys(), ["github-delivery:72d3162e"]);
        let Value::Int(lives) = server.run(&["PTTL", "github-delivery:72d3162e"]) else { panic!("a number") };
        assert!((86_370_000..=86_401_000).contains(&lives), "{lives}");
    }
    assert!(matches!(deliveries.begin("17", &id("72d3162e")).await, Begin::Duplicate), "also while it runs");
    assert!(matches!(deliveries.begin("18", &id("72d3162e")).await, Begin::Duplicate), "for any hook");
    assert_eq!(delivery.renew().await.unwrap(), Hold::Ours);
    assert_eq!(delivery.confirm().await.unwrap(), Hold::Ours);
    assert!(matches!(deliveries.begin("17", &id("72d3162e")).await, Begin::Duplicate));
    clock.advance(Duration::from_millis(86_399_999));
    assert!(matches!(deliveries.begin("17", &id("72d3162e")).await, Begin::Duplicate));
    clock.advance(Duration::from_millis(1));
    assert!(first(&deliveries, &id("72d3162e")).await.is_some());
}

async fn what_failed_is_free_again(place: Place) {
    let (deliveries, _) = simple(place.claims);
    first(&deliveries, &id("1")).await.unwrap().release().await.unwrap();
    let queued = first(&deliveries, &id("1")).await.expect("it was released").hand_over();
    assert!(first(&deliveries, &id("1")).await.is_none());
    deliveries.take_over(queued).release().await.unwrap();
    assert!(first(&deliveries, &id("1")).await.is_some());
}

async fn of_many_at_once_one_is_first(place: Place) {
    let (deliveries, _) = simple(place.claims);
    for round in 0..5 {
        let id = id(&format!("round-{round}"));
        let begun = futures_util::future::join_all((0..20).map(|_| deliveries.begin("17", &id))).await;
        assert_eq!(begun.iter().filter(|begun| matches!(begun, Begin::First(_))).count(), 1);
        assert_eq!(begun.iter().filter(|begun| matches!(begun, Begin::Duplicate)).count(), 19);
    }
}

/// In memory there is no other program, but the endpoint's other mode, of which a mark must know nothing.
async fn a_mark_of_another_program_counts_and_ours_counts_there(place: Place) {
    let (deliveries, clock) = simple(Arc::clone(&place.claims));
    let Some(server) = place.server else {
        let whole =
            Deliveries::builder("github", place.claims, OnClaimOutage::Unavailable, move || clock.now());
        let whole = whole.build().unwrap();
        assert!(first(&whole, &id("a")).await.is_some() && first(&deliveries, &id("a")).await.is_some());
        return;
    };
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
    let (deliveries, _) = simple(Arc::clone(&store));
    let running = first(&deliveries, &id("running")).await.unwrap();
    for number in 0..3 * MemoryStore::LEAST_CAPACITY {
        let delivery = first(&deliveries, &id(&format!("{number}"))).await.expect("there is room");
        assert_eq!(delivery.confirm().await.unwrap(), Hold::Ours);
    }
    assert!(first(&deliveries, &id("running")).await.is_none());
    assert_eq!(running.confirm().await.unwrap(), Hold::Ours);
    assert_eq!(store.stats().claims, MemoryStore::LEAST_CAPACITY);
}
