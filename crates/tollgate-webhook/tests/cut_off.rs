//! Calls that are cut off at each point where they wait, and before they begin.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::task::yield_now;
use tollgate_guard::{Clock as _, ManualClock};
use tollgate_memory::MemoryStore;
use tollgate_store::{Claim, Claimed, Claims, Confirm, Hold, Release, StoreError};
use tollgate_webhook::{Begin, Deliveries, OnClaimOutage};

use crate::deliveries::{first, id};

type Tasks = Arc<Mutex<Vec<Pin<Box<dyn Future<Output = ()> + Send>>>>>;

/// Waits once before each call, and once after it.
#[derive(Debug)]
struct Stepwise(MemoryStore);

async fn stepwise<T>(call: impl Future<Output = T>) -> T {
    yield_now().await;
    let answer = call.await;
    yield_now().await;
    answer
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for Stepwise {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        stepwise(self.0.claim(claim)).await
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        stepwise(self.0.renew(claim)).await
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        stepwise(self.0.confirm(confirm)).await
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        stepwise(self.0.release(release)).await
    }
}

/// How often a call is polled until it is through.
const POLLS: usize = 3;

/// Polls a future so many times and drops it; what it gave, if it was through by then.
fn cut<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    (0..polls).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

/// Does what is left to do; how much that was.
async fn run(tasks: &Tasks) -> usize {
    let left = std::mem::take(&mut *tasks.lock().unwrap());
    join_all(left).await.len()
}

#[tokio::test]
async fn whatever_is_cut_off_ends_as_it_was_meant_to() {
    for polls in 0..=POLLS {
        let tasks = Tasks::default();
        let (clock, queue) = (ManualClock::at_unix_ms(1_796_040_000_000), Arc::clone(&tasks));
        let claims = Stepwise(MemoryStore::new());
        let deliveries =
            Deliveries::builder("github", claims, OnClaimOutage::Unavailable, move || clock.now());
        let deliveries = deliveries.spawner(move |task| queue.lock().unwrap().push(task)).build().unwrap();

        let begun = cut(deliveries.begin("17", &id("begun")), polls);
        assert_eq!(begun.is_some(), polls == POLLS);
        drop(begun);
        assert_eq!(run(&tasks).await, usize::from(polls > 0));
        let renewed = first(&deliveries, &id("begun")).await.expect("nobody works on it");

        assert_eq!(cut(renewed.renew(), polls).is_some(), polls == POLLS);
        assert_eq!(run(&tasks).await, 0);
        assert!(first(&deliveries, &id("begun")).await.is_none(), "{polls} polls: it is still held");
        assert_eq!(renewed.confirm().await.unwrap(), Hold::Ours);

        let confirmed = first(&deliveries, &id("confirmed")).await.unwrap();
        assert_eq!(cut(confirmed.confirm(), polls).is_some(), polls == POLLS);
        assert_eq!(run(&tasks).await, usize::from(polls < POLLS));
        let again = deliveries.begin("17", &id("confirmed")).await;
        assert!(matches!(again, Begin::Duplicate), "{polls} polls: the work is done");

        let released = first(&deliveries, &id("released")).await.unwrap();
        assert_eq!(cut(released.release(), polls).is_some(), polls == POLLS);
        assert_eq!(run(&tasks).await, usize::from(polls < POLLS));
        assert!(first(&deliveries, &id("released")).await.is_some(), "{polls} polls: the work is not done");
    }
}
