//! What each policy does when the store is gone, and what is logged of it.

use std::{sync::Arc, time::Duration};

use crate::common::{Lines, Moody, NOON};
use tollgate_guard::{
    Guard, Limit, ManualClock, OnOutage, Outage, OutageReason, Outcome, Policy, PolicyCharge, Share,
    StoreErrorKind, Window,
};
use tollgate_memory::MemoryStore;
use tollgate_store::{Charge, Take};

const OPEN: Policy<0> = Policy::new("open", Limit::fixed(1, Window::HOUR), OnOutage::Allow);
const CLOSED: Policy<0> = Policy::new("closed", Limit::fixed(1, Window::HOUR), OnOutage::Deny);
const LOCAL: Policy<0> =
    Policy::new("local", Limit::fixed(11, Window::HOUR), OnOutage::Local(Share::percent(30)));

const GONE: StoreErrorKind = StoreErrorKind::Unreachable;

fn guard() -> (Guard<Arc<Moody>>, Arc<Moody>, ManualClock) {
    let store = Moody::new();
    let clock = ManualClock::at_unix_ms(NOON);
    let guard = Guard::builder(Arc::clone(&store))
        .local(Arc::new(MemoryStore::new()))
        .policy(OPEN)
        .policy(CLOSED)
        .policy(LOCAL)
        .clock(clock.clone())
        .build()
        .unwrap();
    (guard, store, clock)
}

/// One of `allow`, `deny`, `unavailable`, and how many decisions were made.
fn told(outcome: &Outcome) -> (&'static str, usize) {
    match outcome {
        Outcome::Allow(pass) => {
            assert_eq!(pass.outage(), Some(OutageReason::Store(GONE)));
            ("allow", pass.decisions().len())
        }
        Outcome::Deny(refusal) => {
            assert_eq!(refusal.outage(), Some(OutageReason::Store(GONE)));
            ("deny", refusal.decisions().len())
        }
        Outcome::Unavailable(outage) => {
            assert_eq!(outage.reason(), OutageReason::Store(GONE));
            ("unavailable", 0)
        }
    }
}

#[tokio::test]
async fn any_denying_policy_refuses_local_ones_count_allowing_ones_are_skipped() {
    let table: [(&str, Vec<PolicyCharge<'_>>, (&str, usize)); 8] = [
        ("nothing", vec![], ("allow", 0)),
        ("open", vec![OPEN.charge(())], ("allow", 0)),
        ("closed", vec![CLOSED.charge(())], ("unavailable", 0)),
        ("open and closed", vec![OPEN.charge(()), CLOSED.charge(())], ("unavailable", 0)),
        ("local and closed", vec![LOCAL.charge(()), CLOSED.charge(())], ("unavailable", 0)),
        ("open and local", vec![OPEN.charge(()), LOCAL.charge(())], ("allow", 1)),
        ("a closed shadow", vec![CLOSED.charge(()).shadow(), OPEN.charge(())], ("allow", 0)),
        ("more than the share", vec![LOCAL.charge(()).cost(4)], ("deny", 1)),
    ];
    for (why, charges, expected) in &table {
        for waits in [false, true] {
            let (guard, store, _clock) = guard();
            store.fail(Some(GONE));
            if waits {
                store.wait();
            }
            assert_eq!(told(&guard.check(charges).await), *expected, "{why}");
            assert_eq!(guard.try_check(charges).await.unwrap_err().kind(), GONE, "{why}");
        }
    }
}

#[tokio::test]
async fn a_local_share_admits_what_it_says_on_top_of_what_was_spent() {
    let (guard, store, clock) = guard();
    for _ in 0..5 {
        assert!(guard.check(&[LOCAL.charge(())]).await.is_allowed());
    }
    store.fail(Some(GONE));
    let admitted = async |tries| {
        let mut admitted = 0;
        for _ in 0..tries {
            admitted += usize::from(guard.check(&[LOCAL.charge(())]).await.is_allowed());
        }
        admitted
    };
    assert_eq!(admitted(10).await, 3, "30 % of 11, rounded down");
    let Outcome::Deny(refusal) = guard.check(&[LOCAL.charge(())]).await else { panic!("the share is spent") };
    assert_eq!(refusal.retry_at().unwrap().unix_ms(), NOON.next_multiple_of(3_600_000));
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(admitted(10).await, 3, "and again in the next window");
    store.fail(None);
    assert_eq!(admitted(20).await, 11, "nothing is reconciled afterwards");
}

#[tokio::test]
async fn a_share_of_a_bucket_is_refilled_however_small_it_is() {
    const DRIP: Policy<0> =
        Policy::new("drip", Limit::bucket(10, 1, Window::SECOND), OnOutage::Local(Share::percent(50)));
    let (store, clock) = (Moody::new(), ManualClock::at_unix_ms(NOON));
    let guard = Guard::builder(store.clone())
        .local(Arc::new(MemoryStore::new()))
        .policy(DRIP)
        .clock(clock.clone())
        .build()
        .unwrap();
    store.fail(Some(GONE));
    for _ in 0..5 {
        assert!(guard.check(&[DRIP.charge(())]).await.is_allowed());
    }
    let Outcome::Deny(refusal) = guard.check(&[DRIP.charge(())]).await else { panic!("half of 10 is spent") };
    assert_eq!(refusal.retry_at().unwrap().unix_ms(), NOON + 2_000, "half a unit a second");
    clock.advance(Duration::from_secs(2));
    assert!(guard.check(&[DRIP.charge(())]).await.is_allowed());
}

#[tokio::test]
async fn what_was_counted_locally_is_given_back_locally() {
    let (guard, store, _clock) = guard();
    store.fail(Some(GONE));
    let charges = [OPEN.charge(()), LOCAL.charge(()).cost(3)];
    let outcome = guard.check(&charges).await;
    assert_eq!(outcome.decided_at().unix_ms(), NOON);
    let Outcome::Allow(pass) = outcome else { panic!("a share is left") };
    assert_eq!(pass.decisions()[0].place(), 1, "the first charge was not decided");
    assert!(!guard.check(&charges).await.is_allowed());
    guard.refund(&charges, &pass).await.unwrap();
    assert!(guard.check(&charges).await.is_allowed());
}

#[tokio::test]
async fn an_outage_is_logged_at_its_beginning_and_its_end() {
    let (lines, _capture) = Lines::capture();
    let (guard, store, clock) = guard();
    assert!(guard.check(&[LOCAL.charge(())]).await.is_allowed());
    assert!(lines.read().is_empty());
    store.fail(Some(GONE));
    for _ in 0..100 {
        let _ = guard.check(&[OPEN.charge(()), LOCAL.charge(())]).await;
    }
    assert_eq!(lines.read().len(), 1, "{:?}", lines.read());
    // A store that fails every other call has not come back.
    for at in 0..100 {
        store.fail((at % 2 == 0).then_some(GONE));
        let _ = guard.check(&[CLOSED.charge(())]).await;
    }
    assert_eq!(lines.read().len(), 1, "{:?}", lines.read());
    store.fail(None);
    clock.advance(Duration::from_millis(999));
    let _ = guard.check(&[CLOSED.charge(())]).await;
    assert_eq!(lines.read().len(), 1);
    clock.advance(Duration::from_millis(1));
    let _ = guard.check(&[CLOSED.charge(())]).await;
    let _ = guard.check(&[CLOSED.charge(())]).await;
    let logged = lines.read();
    assert_eq!(logged.len(), 2, "{logged:?}");
    assert!(
        logged[0].contains("WARN")
            && logged[0].contains("store unreachable")
            && logged[0].contains("the cause"),
        "{logged:?}"
    );
    assert!(logged[1].contains("INFO") && logged[1].contains("failures=150"), "{logged:?}");
    store.fail(Some(GONE));
    let _ = guard.check(&[CLOSED.charge(())]).await;
    assert_eq!(lines.read().len(), 3, "the next outage is another");
}

#[tokio::test]
async fn an_outage_is_noticed_when_the_store_has_given_up() {
    let (lines, _capture) = Lines::capture();
    let (guard, store, clock) = guard();
    store.fail_after(&clock, Duration::from_secs(1));
    // One that gives up after a second every other time has not come back in between.
    for turn in 0..20 {
        store.fail((turn % 2 == 0).then_some(GONE));
        if let Outcome::Unavailable(outage) = guard.check(&[CLOSED.charge(())]).await {
            assert_eq!((outage.noticed_at(), turn % 2), (guard.now(), 0));
        }
    }
    assert_eq!(lines.read().len(), 1, "{:?}", lines.read());

    // What is counted locally is counted then: the window of the request is over, and others have gone on.
    const TINY: Policy<0> =
        Policy::new("tiny", Limit::fixed(8, Window::from_ms(100)), OnOutage::Local(Share::percent(50)));
    let (store, clock) = (Moody::new(), ManualClock::at_unix_ms(NOON));
    let local = Arc::new(MemoryStore::new());
    let guard =
        Guard::builder(store.clone()).local(local.clone()).policy(TINY).clock(clock.clone()).build().unwrap();
    store.fail(Some(GONE));
    store.fail_after(&clock, Duration::from_secs(1));
    let charge = TINY.charge(());
    let other = Charge::new(charge.key(), Limit::fixed(4, Window::from_ms(100)));
    let later = guard.now().saturating_add_ms(1_000);
    assert!(local.take(&Take { charges: &[other], now: later }).unwrap().is_admitted());
    let Outcome::Allow(pass) = guard.check(std::slice::from_ref(&charge)).await else {
        panic!("4 in 100 ms")
    };
    assert_eq!((pass.decided_at(), pass.decisions()[0].decision().remaining()), (later, 2));
}

#[tokio::test]
async fn every_kind_of_failure_is_an_outage_and_a_misuse_is_none() {
    let (guard, store, _clock) = guard();
    for kind in [
        StoreErrorKind::ClockBehind,
        StoreErrorKind::Timeout,
        StoreErrorKind::Unreachable,
        StoreErrorKind::Busy,
        StoreErrorKind::Reject,
        StoreErrorKind::Garbage,
        StoreErrorKind::Disagree,
    ] {
        store.fail(Some(kind));
        let Outcome::Allow(pass) = guard.check(&[OPEN.charge(())]).await else { panic!("{kind}") };
        assert_eq!(pass.outage(), Some(OutageReason::Store(kind)));
        let Outcome::Unavailable(outage) = guard.check(&[CLOSED.charge(())]).await else { panic!("{kind}") };
        assert_eq!(outage.reason(), OutageReason::Store(kind));
        assert_eq!(outage.retry_at(), guard.now().saturating_add(Outage::RETRY_AFTER));
    }
    store.fail(Some(StoreErrorKind::Misuse));
    let Outcome::Unavailable(outage) = guard.check(&[OPEN.charge(())]).await else {
        panic!("a misuse is never let through")
    };
    assert_eq!(outage.reason(), OutageReason::Misuse);
    let stats = guard.stats();
    assert_eq!((stats.let_through, stats.stopped, stats.misused), (7, 7, 1));
}
