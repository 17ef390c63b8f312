//! What a budget owes, wherever it is counted.

use std::time::Duration;

use futures_util::future::join_all;
use tollgate::{Outage, OutageReason, Outcome, PolicyCharge, StoreErrorKind};

use crate::place::{BUCKET, BURST, CHATS, FAST, MONEY, NOON, OPEN, Place, SLIDING, TOKENS, allowed};

const DAY: Duration = Duration::from_secs(86_400);

/// What is left under the key of a charge.
async fn left(place: &Place, charge: &PolicyCharge<'_>) -> i64 {
    let outcome = place.guard.peek(std::slice::from_ref(charge)).await;
    outcome.decisions()[0].decision().left()
}

/// A charge of 10,000 a day, of each kind of limit.
fn each_kind() -> [PolicyCharge<'static>; 3] {
    [TOKENS.charge("a"), SLIDING.charge(()), BUCKET.charge(())]
}

pub(crate) async fn b1_reservations_that_race_stay_within_the_quota(place: &Place) {
    let estimates = [58, 80, 175, 175, 175];
    let charges = estimates.map(|estimate| [BURST.charge(()).estimate(estimate)]);
    let outcomes = join_all(charges.iter().map(|charges| place.guard.reserve(charges))).await;
    let admitted: Vec<_> =
        outcomes.iter().zip(estimates).filter(|(outcome, _)| outcome.is_allowed()).collect();
    assert_eq!(admitted.len(), 1, "{outcomes:?}");
    assert!([58, 80].contains(&admitted[0].1));
    assert_eq!(left(place, &BURST.charge(())).await, 100 - i64::try_from(admitted[0].1).unwrap());
    let never = outcomes.iter().zip(estimates).filter(|(_, estimate)| *estimate > 100);
    assert!(never.map(|(outcome, _)| outcome).all(|outcome| match outcome {
        Outcome::Deny(refusal) => refusal.retry_at().is_none(),
        Outcome::Allow(_) | Outcome::Unavailable(_) => false,
    }));
    // Once it is known to have been little, the others fit.
    for outcome in outcomes.into_iter().filter(Outcome::is_allowed) {
        allowed(outcome).settle(20).await.unwrap();
    }
    allowed(place.guard.reserve(&charges[1]).await).settle(80).await.unwrap();
    assert_eq!(left(place, &BURST.charge(())).await, 0);
}

pub(crate) async fn b2_what_was_too_much_comes_back(place: &Place) {
    for charge in each_kind() {
        let reservation =
            allowed(place.guard.reserve(&[CHATS.charge(()), charge.clone().estimate(1_000)]).await);
        assert_eq!(left(place, &charge).await, 9_000);
        place.clock.advance(Duration::from_secs(60));
        reservation.settle(200).await.unwrap();
        assert_eq!(left(place, &charge).await, 9_800);
    }
    assert_eq!(left(place, &CHATS.charge(())).await, 997, "a fixed cost stays");
}

pub(crate) async fn b3_what_was_too_little_is_a_debt(place: &Place) {
    for charge in each_kind() {
        assert!(place.guard.check(&[charge.clone().cost(9_500)]).await.is_allowed());
        let reserve = async || place.guard.reserve(&[charge.clone().estimate(200)]).await;
        let reservation = allowed(reserve().await);
        reservation.settle(1_000).await.unwrap();
        assert_eq!(left(place, &charge).await, -500);
        let Outcome::Deny(refusal) = reserve().await else { panic!("a debt is seen: {charge:?}") };
        assert!(refusal.retry_at().is_some_and(|at| at.unix_ms() > NOON));
    }
    // The refills of two seconds give back the estimate, and nothing of what was used beyond it.
    let fast = [FAST.charge(()).estimate(100)];
    for (actual, expected) in [(900, 200), (2_600, -1_500)] {
        let reservation = allowed(place.guard.reserve(&fast).await);
        place.clock.advance(Duration::from_secs(2));
        reservation.settle(actual).await.unwrap();
        assert_eq!(left(place, &fast[0]).await, expected);
        place.clock.advance(Duration::from_secs(8));
    }
    assert_eq!(left(place, &fast[0]).await, -700);
    assert!(!place.guard.reserve(&fast).await.is_allowed(), "the debt is seen");
}

pub(crate) async fn b4_a_reservation_that_is_dropped_is_settled_to_what_was_noted(place: &Place) {
    for charge in each_kind() {
        let reserve = async || allowed(place.guard.reserve(&[charge.clone().estimate(1_000)]).await);
        let reservation = reserve().await;
        reservation.note_more(100);
        reservation.note_more(50);
        drop(reservation);
        place.settle_all().await;
        assert_eq!(left(place, &charge).await, 9_850, "not to zero");

        let reservation = reserve().await;
        reservation.note(2_000);
        drop(reservation);
        place.settle_all().await;
        assert_eq!(left(place, &charge).await, 7_850, "more than the estimate");

        // One that is interrupted, in another task and before it is through.
        let reservation = reserve().await;
        let interrupted = tokio::spawn(reservation.settle(300));
        interrupted.abort();
        drop(interrupted.await);
        place.settle_all().await;
        assert_eq!(left(place, &charge).await, 7_550);

        drop(reserve().await);
        place.settle_all().await;
        assert_eq!(left(place, &charge).await, 6_550, "what nobody knows stays spent");
    }
}

pub(crate) async fn b5_what_nobody_settles_is_spent_until_its_window_ends(place: &Place) {
    for charge in [TOKENS.charge("a"), SLIDING.charge(())] {
        // A process that has died runs no destructor.
        std::mem::forget(allowed(place.guard.reserve(&[charge.clone().estimate(9_000)]).await));
        assert_eq!(left(place, &charge).await, 1_000);
        allowed(place.guard.reserve(&[charge.clone().estimate(1_000)]).await).settle(1_000).await.unwrap();
        assert_eq!(left(place, &charge).await, 0, "nothing is locked");
        place.clock.advance(2 * DAY);
        assert_eq!(left(place, &charge).await, 10_000);
    }
}

pub(crate) async fn b6_a_settlement_is_applied_once(place: &Place) {
    for charge in each_kind() {
        assert!(place.guard.check(&[charge.clone().cost(5_000)]).await.is_allowed());
        for (turn, actual) in [(1, 400), (2, 0), (3, 1_300)] {
            let before = left(place, &charge).await;
            let reservation = allowed(place.guard.reserve(&[charge.clone().estimate(1_000)]).await);
            place.store.lose_answers();
            let unsettled = reservation.settle(actual).await.unwrap_err();
            let mut unsettled = unsettled.retry().await.unwrap_err();
            place.store.be_gone();
            for _ in 0..turn {
                unsettled = unsettled.retry().await.unwrap_err();
            }
            place.store.work();
            unsettled.retry().await.unwrap();
            assert_eq!(left(place, &charge).await, before - i64::try_from(actual).unwrap());
        }
        // One that is given up on is settled all the same.
        let before = left(place, &charge).await;
        let reservation = allowed(place.guard.reserve(&[charge.clone().estimate(1_000)]).await);
        place.store.be_gone();
        let unsettled = reservation.settle(10).await.unwrap_err();
        place.store.work();
        drop(unsettled);
        place.settle_all().await;
        assert_eq!(left(place, &charge).await, before - 10);
    }
}

pub(crate) async fn b7_only_the_window_it_was_taken_in_is_corrected(place: &Place) {
    let day_ms = 86_400_000;
    let midnight = NOON.next_multiple_of(day_ms);
    for actual in [0, 9_000] {
        let charges = [TOKENS.charge("a").estimate(1_000), SLIDING.charge(()).estimate(1_000)];
        let reservation = allowed(place.guard.reserve(&charges).await);
        place.clock.set_unix_ms(midnight + day_ms / 2);
        assert!(place.guard.check(&[TOKENS.charge("a").cost(300)]).await.is_allowed());
        assert_eq!(left(place, &SLIDING.charge(())).await, 9_500, "half of yesterday's weighs");
        reservation.settle(actual).await.unwrap();
        assert_eq!(left(place, &TOKENS.charge("a")).await, 9_700, "today's is untouched");
        let weighs = i64::try_from(actual / 2).unwrap();
        assert_eq!(
            left(place, &SLIDING.charge(())).await,
            10_000 - weighs,
            "and yesterday's weighs what it is"
        );
        for charge in [TOKENS.charge("a"), SLIDING.charge(())] {
            place.guard.forget_charges(&[charge]).await.unwrap();
        }
        place.clock.set_unix_ms(NOON);
    }
}

pub(crate) async fn b8_a_store_that_is_gone_refuses_or_lets_through(place: &Place) {
    place.store.be_gone();
    let denies = [OPEN.charge(()).estimate(10), TOKENS.charge("a").estimate(10)];
    let Outcome::Unavailable(outage) = place.guard.reserve(&denies).await else { panic!("it is gone") };
    assert_eq!(outage.reason(), OutageReason::Store(StoreErrorKind::Unreachable));
    assert_eq!(outage.retry_at(), place.guard.now().saturating_add(Outage::RETRY_AFTER));

    let outcome = place.guard.reserve(&[OPEN.charge(()).estimate(10)]).await;
    assert!(outcome.decisions().is_empty());
    let reservation = allowed(outcome);
    assert_eq!(reservation.pass().outage(), Some(OutageReason::Store(StoreErrorKind::Unreachable)));
    reservation.note(500);
    place.store.work();
    reservation.settle(700).await.unwrap();
    assert_eq!(left(place, &OPEN.charge(())).await, 10_000, "what was not counted is not corrected");
    let stats = place.guard.stats();
    assert_eq!((stats.stopped, stats.let_through), (1, 1));
}

/// As b8, with nothing pretended.
pub(crate) async fn a_server_that_is_killed_is_an_outage(mut place: Place) {
    let reservation = allowed(place.guard.reserve(&[TOKENS.charge("a").estimate(10)]).await);
    place.kill();
    let outcome = place.guard.reserve(&[TOKENS.charge("a").estimate(10)]).await;
    assert!(matches!(outcome, Outcome::Unavailable(_)), "{outcome:?}");
    let through = allowed(place.guard.reserve(&[OPEN.charge(()).estimate(10)]).await);
    assert!(through.pass().outage().is_some());
    through.settle(99).await.unwrap();
    let unsettled = reservation.settle(5).await.unwrap_err();
    assert_ne!(unsettled.error().kind(), StoreErrorKind::Misuse);
    drop(unsettled);
    place.settle_all().await;
}

pub(crate) async fn tokens_and_money_are_settled_each(place: &Place) {
    let charges =
        [CHATS.charge(()), TOKENS.charge("a").estimate(1_000), MONEY.charge(()).estimate(30_000_000)];
    let reservation = allowed(place.guard.reserve(&charges).await);
    reservation.settle_each(&[812, 24_360_000]).await.unwrap();
    let reservation = allowed(place.guard.reserve(&charges).await);
    reservation.note_each(&[100, 3_000_000]).unwrap();
    drop(reservation);
    place.settle_all().await;
    assert_eq!(left(place, &TOKENS.charge("a")).await, 10_000 - 912);
    assert_eq!(left(place, &MONEY.charge(())).await, 100_000_000 - 27_360_000);
    let reservation = allowed(place.guard.reserve(&charges).await);
    reservation.refund().await.unwrap();
    assert_eq!(left(place, &CHATS.charge(())).await, 998);
    assert_eq!(left(place, &MONEY.charge(())).await, 100_000_000 - 27_360_000);
}
