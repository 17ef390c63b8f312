//! Reservations that nobody settles: dropped, interrupted, or given up on.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Waker},
};

use crate::{
    common::{Lines, Moody, NOON},
    reservation::{COST, TOKENS, allowed, guard, used},
};
use tollgate_guard::{Guard, ManualClock, SettleTask, StoreErrorKind};

type Tasks = Arc<Mutex<Vec<SettleTask>>>;

/// A guard whose settlements are run by hand.
fn guard_with_tasks(store: &Arc<Moody>) -> (Arc<Guard<Arc<Moody>>>, Tasks) {
    let tasks = Tasks::default();
    let queue = Arc::clone(&tasks);
    let guard = Guard::builder(Arc::clone(store))
        .policy(crate::reservation::CHATS)
        .policy(TOKENS)
        .policy(COST)
        .clock(ManualClock::at_unix_ms(NOON))
        .spawner(move |task| queue.lock().unwrap().push(task))
        .build()
        .unwrap();
    (Arc::new(guard), tasks)
}

/// The only line that is there.
fn only(lines: &Lines) -> String {
    let lines = lines.read();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(!lines[0].contains("203.0.113"), "an address is not for logs: {lines:?}");
    lines[0].clone()
}

fn poll_once(future: impl Future) {
    assert!(pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[tokio::test]
async fn what_was_noted_is_settled_at_once_where_the_store_answers_at_once() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let (lines, _capture) = Lines::capture();
    let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
    reservation.note_more(30);
    reservation.note_more(12);
    drop(reservation);
    assert_eq!(used(&guard).await, [0, 42, 0]);
    assert!(only(&lines).contains("DEBUG"));
}

#[tokio::test]
async fn what_was_not_noted_stays_spent() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    for close in [false, true] {
        let (lines, _capture) = Lines::capture();
        let reservation = allowed(guard.reserve(&[TOKENS.charge("203.0.113.7").estimate(1_000)]).await);
        if close {
            reservation.close().await.unwrap();
        } else {
            drop(reservation);
        }
        let line = only(&lines);
        assert!(
            line.contains("WARN") && line.contains("tokens") && line.contains("nothing was noted"),
            "{line}"
        );
    }
    assert_eq!(store.settles(), 0);
    let left = guard.peek(&[TOKENS.charge("203.0.113.7")]).await.decisions()[0].decision().left();
    assert_eq!(left, 8_000);
}

#[tokio::test]
async fn a_store_that_waits_is_left_to_the_spawner() {
    // The second one takes at once, and is waited for in its settlement alone.
    for set_up in [Moody::wait as fn(&Moody), Moody::settle_later] {
        let store = Moody::new();
        set_up(&store);
        let (guard, tasks) = guard_with_tasks(&store);
        let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
        reservation.note(42);
        drop(reservation);
        assert_eq!((used(&guard).await, store.settles()), ([0, 1_000, 0], 0));
        let task = tasks.lock().unwrap().pop().unwrap();
        task.await;
        assert_eq!((used(&guard).await, store.settles()), ([0, 42, 0], 1));
    }
}

#[tokio::test]
async fn without_anybody_to_run_it_it_stays_spent_and_is_logged() {
    let store = Moody::new();
    store.wait();
    let (lines, capture) = Lines::capture();
    let (guard, _clock) = guard(&store);
    let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
    reservation.note(42);
    drop(reservation);
    let line = only(&lines);
    assert!(line.contains("WARN") && line.contains("tokens") && line.contains("no spawner"), "{line}");
    drop(capture);

    let (lines, _capture) = Lines::capture();
    let (guard, tasks) = guard_with_tasks(&store);
    let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
    reservation.note(42);
    drop(reservation);
    assert!(lines.read().is_empty());
    tasks.lock().unwrap().clear();
    let line = only(&lines);
    assert!(line.contains("WARN") && line.contains("its task was dropped"), "{line}");
    assert_eq!(used(&guard).await, [0, 2_000, 0]);
}

#[tokio::test]
async fn a_drop_never_panics() {
    let store = Moody::new();
    store.wait();
    let guard = Guard::builder(Arc::clone(&store))
        .policy(TOKENS)
        .clock(ManualClock::at_unix_ms(NOON))
        .spawner(|_task| panic!("there is no runtime"))
        .build()
        .unwrap();
    let guard = Arc::new(guard);
    let (lines, _capture) = Lines::capture();
    let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
    reservation.note(1);
    let handler = catch_unwind(AssertUnwindSafe(|| {
        let _held = reservation;
        panic!("the handler's own");
    }));
    let message = handler.unwrap_err();
    assert_eq!(message.downcast_ref(), Some(&"the handler's own"));
    assert!(only(&lines).contains("its task was dropped"));
}

#[test]
fn a_store_that_needs_a_runtime_is_dropped_outside_of_one() {
    let store = Moody::new();
    store.need_a_runtime();
    let (guard, _clock) = guard(&store);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let reservation =
        allowed(runtime.block_on(async { guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await }));
    let (lines, _capture) = Lines::capture();
    reservation.note(1);
    drop(reservation);
    assert!(only(&lines).contains("stays spent"));
}

#[tokio::test]
async fn what_is_known_is_not_lost_when_settling_fails() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    for estimate in [1_000, 10] {
        guard.forget(&TOKENS, "a").await.unwrap();
        let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(estimate)]).await);
        reservation.note(1);
        store.fail(Some(StoreErrorKind::Busy));
        let unsettled = reservation.settle(400).await.unwrap_err();
        store.fail(None);
        drop(unsettled);
        assert_eq!(used(&guard).await, [0, 400, 0]);
    }

    let (lines, _capture) = Lines::capture();
    let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
    store.fail(Some(StoreErrorKind::Busy));
    drop(reservation.settle(300).await);
    store.fail(None);
    let line = only(&lines);
    assert!(line.contains("WARN") && line.contains("store busy") && line.contains("the cause"), "{line}");
    assert_eq!(used(&guard).await, [0, 1_400, 0], "the safe side");

    // What was used beyond the estimate is on no side: all there is of it is the line.
    let (lines, _capture) = Lines::capture();
    let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(10)]).await);
    store.fail(Some(StoreErrorKind::Busy));
    drop(reservation.settle(300).await);
    store.fail(None);
    let line = only(&lines);
    assert!(line.contains("WARN") && line.contains("uncounted=[290]"), "{line}");
    assert_eq!(used(&guard).await, [0, 1_410, 0]);
}

#[tokio::test]
async fn a_settlement_that_is_interrupted_goes_on() {
    let store = Moody::new();
    store.wait();
    let (guard, tasks) = guard_with_tasks(&store);
    for end in 0..3 {
        let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
        reservation.note(7);
        match end {
            0 => poll_once(reservation.settle(42)),
            1 => poll_once(reservation.close()),
            _ => poll_once(reservation.refund()),
        }
        let task = tasks.lock().unwrap().pop().unwrap();
        task.await;
        assert_eq!(used(&guard).await, [0, [42, 49, 49][end], 0]);
    }
    // One that was never polled at all.
    let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
    reservation.note(1);
    drop(reservation.settle(100));
    let task = tasks.lock().unwrap().pop().unwrap();
    task.await;
    assert_eq!(used(&guard).await, [0, 149, 0], "what it is settled to is known from the call on");
}

#[cfg(feature = "tokio")]
#[test]
fn tokio_runs_it_wherever_it_is_dropped() {
    use tollgate_guard::tokio_spawner;

    let store = Moody::new();
    store.wait();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let make = |spawner: Box<dyn Fn(SettleTask) + Send + Sync>| {
        let clock = ManualClock::at_unix_ms(NOON);
        Guard::builder(Arc::clone(&store))
            .policy(TOKENS)
            .clock(clock)
            .spawner(spawner)
            .build()
            .map(Arc::new)
            .unwrap()
    };
    let here = {
        let _entered = runtime.enter();
        make(Box::new(tokio_spawner()))
    };
    let nowhere = make(Box::new(tokio_spawner()));
    let reserve = |guard: &Arc<Guard<Arc<Moody>>>| {
        runtime.block_on(async { allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await) })
    };
    let left = async || here.peek(&[TOKENS.charge("a")]).await.decisions()[0].decision().left();
    let settled = |expected| {
        runtime.block_on(async {
            while left().await != expected {
                tokio::task::yield_now().await;
            }
        });
    };

    let reservation = reserve(&here);
    reservation.note(1);
    drop(reservation);
    settled(9_999);

    let reservation = reserve(&nowhere);
    reservation.note(1);
    runtime.block_on(async { drop(reservation) });
    settled(9_998);

    let (lines, _capture) = Lines::capture();
    let reservation = reserve(&nowhere);
    reservation.note(1);
    drop(reservation);
    assert!(only(&lines).contains("its task was dropped"));
    settled(8_998);

    let reservation = reserve(&here);
    drop(runtime);
    reservation.note(1);
    drop(reservation);
}
