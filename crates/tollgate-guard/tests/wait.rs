//! Waiting until a request is admitted, on a paused clock.
#![cfg(feature = "tokio")]

use std::time::Duration;

use crate::common::{Moody, NOON};
use tollgate_guard::{
    Charging, Clock, Guard, Limit, OnOutage, Outcome, OwnedPolicy, Policy, Timestamp, Window,
};

const SLOW: Policy<0> = Policy::new("slow", Limit::bucket(1, 1, Window::from_ms(700)), OnOutage::Deny);

/// The time of Tokio's paused clock, which moves on by itself when all wait.
#[derive(Debug)]
struct Paused(tokio::time::Instant);

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(NOON).saturating_add(self.0.elapsed())
    }
}

fn at(ms: u64) -> Timestamp {
    Timestamp::from_unix_ms(NOON + ms)
}

#[tokio::test(start_paused = true)]
async fn waits_as_long_as_it_takes_and_counts_once() {
    let store = Moody::new();
    let guard = Guard::builder(store.clone())
        .policy(SLOW)
        .clock(Paused(tokio::time::Instant::now()))
        .build()
        .unwrap();
    for (turn, charging) in
        [Charging::IfAllowed, Charging::Always, Charging::IfAllowed].into_iter().enumerate()
    {
        let outcome = guard.until_allowed(&[SLOW.charge(()).charging(charging)], at(10_000)).await;
        assert!(outcome.is_allowed());
        assert_eq!(outcome.decisions()[0].decision().left(), 0);
        assert_eq!(guard.now(), at(700 * turn as u64));
    }
    assert_eq!(store.takes(), 5, "one try each, and one more where it had to wait");
}

#[tokio::test(start_paused = true)]
async fn does_not_wait_for_what_cannot_come_in_time() {
    let guard =
        Guard::builder(Moody::new()).policy(SLOW).clock(Paused(tokio::time::Instant::now())).build().unwrap();
    assert!(guard.check(&[SLOW.charge(())]).await.is_allowed());
    assert!(matches!(guard.until_allowed(&[SLOW.charge(())], at(699)).await, Outcome::Deny(_)));
    assert!(
        matches!(guard.until_allowed(&[SLOW.charge(()).cost(2)], at(10_000)).await, Outcome::Deny(_)),
        "never"
    );
    assert_eq!(guard.now(), at(0), "and said so at once");
    assert!(guard.until_allowed(&[SLOW.charge(())], at(700)).await.is_allowed());
    tokio::time::advance(Duration::from_millis(700)).await;
    assert!(guard.check_now(&[SLOW.charge(())]).is_some_and(|outcome| outcome.is_allowed()));
}

#[tokio::test(start_paused = true)]
async fn a_wait_may_be_as_long_as_a_window() {
    for window in [25, 30, 400, 12_000]
        .map(|days| Window::from_ms(days * Window::DAY.ms()))
        .into_iter()
        .chain([Window::MAX])
    {
        let rare = OwnedPolicy::try_new("rare", 0, Limit::bucket(1, 1, window), OnOutage::Deny).unwrap();
        let clock = Paused(tokio::time::Instant::now());
        let guard = Guard::builder(Moody::new()).policy(&rare).clock(clock).build().unwrap();
        let charges = [rare.charge(&[]).unwrap()];
        assert!(guard.check(&charges).await.is_allowed());
        assert!(guard.until_allowed(&charges, Timestamp::MAX).await.is_allowed());
        assert_eq!(guard.now(), at(window.ms()), "{window}");
    }
}
