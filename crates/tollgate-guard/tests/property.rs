//! Whatever is reserved, noted, settled and dropped, in whatever order: what is counted is what was used.

use std::sync::Arc;

use crate::{
    common::{Moody, NOON},
    reservation::allowed,
};
use proptest::{collection::vec, prelude::*};
use tollgate_guard::{
    Guard, Limit, ManualClock, OnOutage, Outcome, OwnedPolicy, Reservation, StoreErrorKind, Window,
};

#[derive(Clone, Debug)]
enum Step {
    Reserve(u64),
    Note(usize, u64),
    NoteMore(usize, u64),
    Settle(usize, u64),
    /// The store fails, or its answer is lost, and it is tried again or dropped.
    Fail(usize, u64, bool, bool),
    Close(usize),
    Refund(usize),
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (which, units) = (0..6usize, 0..400u64);
    prop_oneof![
        4 => (0..300u64).prop_map(Step::Reserve),
        2 => (which.clone(), units.clone()).prop_map(|(at, units)| Step::Note(at, units)),
        2 => (which.clone(), units.clone()).prop_map(|(at, units)| Step::NoteMore(at, units)),
        2 => (which.clone(), units.clone()).prop_map(|(at, units)| Step::Settle(at, units)),
        2 => (which.clone(), units, any::<bool>(), any::<bool>())
            .prop_map(|(at, units, lost, retry)| Step::Fail(at, units, lost, retry)),
        1 => which.clone().prop_map(Step::Close),
        1 => which.clone().prop_map(Step::Refund),
        2 => which.prop_map(Step::Drop),
    ]
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::fixed(1_000, Window::DAY)),
        Just(Limit::sliding(1_000, Window::DAY)),
        Just(Limit::bucket(1_000, 1, Window::DAY)),
    ]
}

/// What is open: the reservation, its estimate and what was noted.
type Open = Vec<(Reservation, u64, Option<u64>)>;

async fn run(limit: Limit, steps: Vec<Step>) {
    let policy = OwnedPolicy::try_new("tokens", 0, limit, OnOutage::Deny).unwrap();
    let store = Moody::new();
    let clock = ManualClock::at_unix_ms(NOON);
    let guard = Arc::new(Guard::builder(Arc::clone(&store)).policy(&policy).clock(clock).build().unwrap());
    let charge = policy.charge(&[]).unwrap();
    let mut open: Open = Vec::new();
    let mut spent = 0;
    for step in steps {
        match step {
            Step::Reserve(estimate) => {
                let estimate_taken = estimate.max(1);
                let taken: u64 = spent + open.iter().map(|(_, estimate, _)| estimate).sum::<u64>();
                let outcome = guard.reserve(&[charge.clone().estimate(estimate)]).await;
                assert_eq!(outcome.is_allowed(), taken + estimate_taken <= 1_000);
                if let Outcome::Allow(_) = outcome {
                    open.push((allowed(outcome), estimate_taken, None));
                }
            }
            Step::Note(at, units) => {
                if let Some((reservation, _, noted)) = open.get_mut(at) {
                    reservation.note(units);
                    *noted = Some(noted.unwrap_or(0).max(units));
                }
            }
            Step::NoteMore(at, units) => {
                if let Some((reservation, _, noted)) = open.get_mut(at) {
                    reservation.note_more(units);
                    *noted = Some(noted.unwrap_or(0) + units);
                }
            }
            Step::Settle(at, units) if at < open.len() => {
                open.remove(at).0.settle(units).await.unwrap();
                spent += units;
            }
            Step::Fail(at, units, lost, retry) if at < open.len() => {
                let (reservation, estimate, _) = open.remove(at);
                store.lose_answers(lost);
                store.fail((!lost).then_some(StoreErrorKind::Busy));
                let failed = reservation.settle(units).await;
                assert_eq!(failed.is_err(), units != estimate, "nothing is sent for nothing");
                store.fail(None);
                store.lose_answers(false);
                match failed {
                    Err(unsettled) if retry => unsettled.retry().await.unwrap(),
                    failed => drop(failed),
                }
                spent += units;
            }
            Step::Close(at) if at < open.len() => {
                let (reservation, estimate, noted) = open.remove(at);
                reservation.close().await.unwrap();
                spent += noted.unwrap_or(estimate);
            }
            Step::Refund(at) if at < open.len() => open.remove(at).0.refund().await.unwrap(),
            Step::Drop(at) if at < open.len() => {
                let (reservation, estimate, noted) = open.remove(at);
                drop(reservation);
                spent += noted.unwrap_or(estimate);
            }
            Step::Settle(..) | Step::Fail(..) | Step::Close(_) | Step::Refund(_) | Step::Drop(_) => {}
        }
        let held: u64 = open.iter().map(|(_, estimate, _)| estimate).sum();
        let decision = *guard.peek(std::slice::from_ref(&charge)).await.decisions()[0].decision();
        assert_eq!(i64::try_from(spent + held).unwrap(), 1_000 - decision.left());
    }
}

proptest! {
    #[test]
    fn what_is_counted_is_what_was_used(limit in limits(), steps in vec(step(), 1..60)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run(limit, steps));
    }
}
