//! Reservations that somebody settles.

use std::{error::Error, sync::Arc, time::Duration};

use crate::common::{Lines, Moody, NOON};
use tollgate_guard::{
    Charging, Guard, Limit, ManualClock, OnOutage, OutageReason, Outcome, OwnedPolicy, Policy, Reservation,
    Share, StoreErrorKind, Window,
};
use tollgate_memory::MemoryStore;

pub(crate) const CHATS: Policy<1> = Policy::new("chats", Limit::fixed(50, Window::HOUR), OnOutage::Deny);
pub(crate) const TOKENS: Policy<1> = Policy::new("tokens", Limit::fixed(10_000, Window::DAY), OnOutage::Deny);
pub(crate) const COST: Policy<0> = Policy::new("cost", Limit::fixed(5_000_000, Window::DAY), OnOutage::Deny);
const OPEN: Policy<0> = Policy::new("open", Limit::fixed(1_000, Window::HOUR), OnOutage::Allow);
const LOCAL: Policy<0> =
    Policy::new("local", Limit::fixed(1_000, Window::HOUR), OnOutage::Local(Share::percent(50)));

const LOCAL_BUCKET: Policy<0> =
    Policy::new("local-bucket", Limit::bucket(1_000, 1, Window::HOUR), OnOutage::Local(Share::percent(50)));

pub(crate) fn guard(store: &Arc<Moody>) -> (Arc<Guard<Arc<Moody>>>, ManualClock) {
    let clock = ManualClock::at_unix_ms(NOON);
    let guard = Guard::builder(Arc::clone(store))
        .local(Arc::new(MemoryStore::new()))
        .policy(CHATS)
        .policy(TOKENS)
        .policy(COST)
        .policy(OPEN)
        .policy(LOCAL)
        .policy(LOCAL_BUCKET)
        .clock(clock.clone())
        .build()
        .unwrap();
    (Arc::new(guard), clock)
}

pub(crate) fn allowed(outcome: Outcome<Reservation>) -> Reservation {
    let Outcome::Allow(reservation) = outcome else { panic!("{outcome:?}") };
    reservation
}

/// What is used of chats, tokens and cost.
pub(crate) async fn used(guard: &Guard<Arc<Moody>>) -> [i64; 3] {
    let outcome = guard.peek(&[CHATS.charge("a"), TOKENS.charge("a"), COST.charge(())]).await;
    let used = outcome.decisions().iter().map(|one| {
        let decision = one.decision();
        i64::try_from(decision.quota().get()).unwrap() - decision.left()
    });
    used.collect::<Vec<_>>().try_into().unwrap()
}

#[tokio::test]
async fn only_estimates_are_settled() {
    for waits in [false, true] {
        let store = Moody::new();
        if waits {
            store.wait();
        }
        let (guard, _clock) = guard(&store);
        let mut chats = 0;
        let mut tokens = 0;
        for actual in [200, 0, 1_000, 9_999, 1] {
            let charges = [CHATS.charge("a"), TOKENS.charge("a").estimate(1_000)];
            let reservation = allowed(guard.reserve(&charges).await);
            chats += 1;
            assert_eq!(used(&guard).await, [chats, tokens + 1_000, 0]);
            assert_eq!(reservation.pass().decisions()[1].written().get(), 1_000);
            reservation.note(17);
            reservation.settle(actual).await.unwrap();
            tokens += i64::try_from(actual).unwrap();
            assert_eq!(used(&guard).await, [chats, tokens, 0], "{actual}");
            if tokens > 9_000 {
                assert!(matches!(guard.reserve(&charges).await, Outcome::Deny(_)), "a debt is seen");
                guard.forget(&TOKENS, "a").await.unwrap();
                tokens = 0;
            }
        }
        assert_eq!(store.settles(), 4, "what came to its estimate is not sent");
        assert_eq!(guard.stats().allowed, 5);
        assert_eq!(guard.stats().refused, 1);
    }
}

#[tokio::test]
async fn estimates_in_different_units_are_settled_each() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let charges = [TOKENS.charge("a").estimate(1_000), CHATS.charge("a"), COST.charge(()).estimate(30_000)];
    let reservation = allowed(guard.reserve(&charges).await);
    assert_eq!(reservation.estimates(), 2);
    for wrong in [&[][..], &[1], &[1, 2, 3]] {
        assert_eq!(reservation.note_each(wrong).unwrap_err().kind(), StoreErrorKind::Misuse);
        assert_eq!(reservation.note_more_each(wrong).unwrap_err().kind(), StoreErrorKind::Misuse);
    }
    reservation.settle_each(&[700, 45_000]).await.unwrap();
    assert_eq!(used(&guard).await, [1, 700, 45_000]);

    let reservation = allowed(guard.reserve(&charges).await);
    reservation.note_each(&[5, 7_000]).unwrap();
    let unsettled = reservation.settle_each(&[1]).await.unwrap_err();
    assert_eq!(unsettled.error().kind(), StoreErrorKind::Misuse);
    assert_eq!(used(&guard).await, [2, 1_700, 75_000], "nothing was sent");
    unsettled.retry().await.unwrap();
    assert_eq!(used(&guard).await, [2, 705, 52_000], "what was noted is what is known");
}

#[tokio::test]
async fn notes_only_rise() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let charges = [TOKENS.charge("a").estimate(1_000), COST.charge(()).estimate(1_000)];
    let reservation = allowed(guard.reserve(&charges).await);
    reservation.note_more(5);
    reservation.note(3);
    reservation.note_more(2);
    reservation.note(6);
    reservation.note_each(&[9, 1]).unwrap();
    reservation.note_more_each(&[1, 0]).unwrap();
    reservation.close().await.unwrap();
    assert_eq!(used(&guard).await, [0, 10, 7]);

    let reservation = allowed(guard.reserve(&charges).await);
    reservation.note(0);
    reservation.close().await.unwrap();
    assert_eq!(used(&guard).await, [0, 10, 7], "to know that nothing was used is to know something");

    let reservation = allowed(guard.reserve(&charges).await);
    reservation.note(u64::MAX);
    reservation.note_more(u64::MAX);
    reservation.close().await.unwrap();
    let outcome = guard.peek(&charges).await;
    assert!(outcome.decisions().iter().all(|one| one.decision().used().get() == (1 << 53) - 1));
}

#[tokio::test]
async fn a_reservation_without_an_estimate_is_a_misuse() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let (lines, _capture) = Lines::capture();
    for charges in [
        vec![],
        vec![TOKENS.charge("a")],
        vec![TOKENS.charge("a").estimate(5).cost(5)],
        vec![TOKENS.charge("a").estimate(5), TOKENS.charge("a").estimate(5)],
    ] {
        let Outcome::Unavailable(outage) = guard.reserve(&charges).await else { panic!("{charges:?}") };
        assert_eq!(outage.reason(), OutageReason::Misuse);
    }
    assert_eq!(guard.stats().misused, 4);
    assert_eq!(used(&guard).await, [0, 0, 0]);
    assert!(lines.read().len() == 1 && lines.read()[0].contains("ERROR"), "{:?}", lines.read());
}

#[tokio::test]
async fn an_estimate_that_nobody_would_settle_is_a_misuse() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let charges = [CHATS.charge("a"), TOKENS.charge("a").estimate(1_000)];
    let is_misuse = |outcome: Outcome| match outcome {
        Outcome::Unavailable(outage) => outage.reason() == OutageReason::Misuse,
        Outcome::Allow(_) | Outcome::Deny(_) => false,
    };
    // Whatever the store is like: it never gets there.
    for waits in [false, true] {
        if waits {
            store.wait();
        }
        assert!(is_misuse(guard.check(&charges).await));
        assert!(guard.check_now(&charges).is_some_and(is_misuse));
        assert_eq!(guard.try_check(&charges).await.unwrap_err().kind(), StoreErrorKind::Misuse);
        #[cfg(feature = "tokio")]
        assert!(is_misuse(guard.until_allowed(&charges, guard.now()).await));
        assert_eq!(used(&guard).await, [0, 0, 0], "nothing is taken");
    }
    // A cost that is known since, and a look that takes nothing.
    assert!(guard.check(&[TOKENS.charge("a").estimate(5).cost(5)]).await.is_allowed());
    assert!(guard.peek(&charges).await.is_allowed());
    assert_eq!(used(&guard).await, [0, 5, 0]);
}

#[tokio::test]
async fn an_estimate_of_nothing_is_settled_all_the_same() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    allowed(guard.reserve(&[TOKENS.charge("a").estimate(0)]).await).settle(40).await.unwrap();
    assert_eq!(used(&guard).await, [0, 40, 0]);
    allowed(guard.reserve(&[TOKENS.charge("a").estimate(0)]).await).settle(0).await.unwrap();
    assert_eq!(used(&guard).await, [0, 40, 0]);
}

#[tokio::test]
async fn what_was_never_begun_is_given_back_whole() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let charges = [CHATS.charge("a").cost(2), TOKENS.charge("a").estimate(1_000)];
    let reservation = allowed(guard.reserve(&charges).await);
    reservation.note(30);
    reservation.refund().await.unwrap();
    assert_eq!(used(&guard).await, [0, 0, 0]);
}

#[tokio::test]
async fn what_was_not_written_is_not_settled_and_a_written_shadow_is() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let charges = [
        CHATS.charge("a").estimate(60).shadow(),
        TOKENS.charge("a").estimate(1_000).charging(Charging::Never),
        COST.charge(()).estimate(1_000).shadow(),
    ];
    // There are counts that could be corrected.
    assert!(guard.check(&[CHATS.charge("a").cost(5), TOKENS.charge("a").cost(5)]).await.is_allowed());
    let reservation = allowed(guard.reserve(&charges).await);
    assert_eq!(used(&guard).await, [5, 5, 1_000], "60 do not fit 50, and a peek writes nothing");
    reservation.settle(30).await.unwrap();
    assert_eq!(used(&guard).await, [5, 5, 30]);
}

#[tokio::test]
async fn a_lost_answer_is_settled_once() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    // Somebody else's, so that a second refund would show.
    allowed(guard.reserve(&[TOKENS.charge("a").estimate(5_000)]).await).settle(5_000).await.unwrap();
    for waits in [false, true] {
        let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
        store.lose_answers(true);
        let mut unsettled = reservation.settle(400).await.unwrap_err();
        assert_eq!(unsettled.error().kind(), StoreErrorKind::Timeout);
        let cause = unsettled.source().unwrap().to_string();
        assert!(cause.contains("the answer is lost") && !unsettled.to_string().contains(&cause));
        for _ in 0..3 {
            unsettled = unsettled.retry().await.unwrap_err();
        }
        store.lose_answers(false);
        unsettled.retry().await.unwrap();
        assert_eq!(used(&guard).await, [0, 5_400 + 400 * i64::from(waits), 0]);
        store.wait();
    }
}

#[tokio::test]
async fn a_window_that_is_over_is_left_alone() {
    for actual in [0, 9_000] {
        let store = Moody::new();
        let (guard, clock) = guard(&store);
        let reservation = allowed(guard.reserve(&[TOKENS.charge("a").estimate(1_000)]).await);
        clock.advance(Duration::from_secs(86_400));
        allowed(guard.reserve(&[TOKENS.charge("a").estimate(300)]).await).settle(300).await.unwrap();
        reservation.settle(actual).await.unwrap();
        assert_eq!(used(&guard).await, [0, 300, 0]);
    }
}

#[tokio::test]
async fn what_an_outage_counted_locally_is_settled_locally() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    store.fail(Some(StoreErrorKind::Unreachable));
    let charges = [OPEN.charge(()).estimate(10), LOCAL.charge(()).estimate(400)];
    let left = async |guard: &Guard<Arc<Moody>>| {
        let outcome = guard.peek(&[OPEN.charge(()), LOCAL.charge(())]).await;
        outcome.decisions().iter().map(|one| one.decision().left()).collect::<Vec<_>>()
    };
    let reservation = allowed(guard.reserve(&charges).await);
    assert_eq!(reservation.pass().outage(), Some(OutageReason::Store(StoreErrorKind::Unreachable)));
    assert_eq!(guard.stats().let_through, 1);
    assert_eq!(left(&guard).await, [100], "of half of 1,000");
    reservation.settle_each(&[77, 150]).await.unwrap();
    assert_eq!(left(&guard).await, [350]);
    let charges = [OPEN.charge(()).estimate(10), LOCAL.charge(()).estimate(300)];
    let reservation = allowed(guard.reserve(&charges).await);
    store.fail(None);
    reservation.settle(600).await.unwrap();
    assert_eq!(left(&guard).await, [1_000, 1_000], "the store has counted nothing of it");
    store.fail(Some(StoreErrorKind::Unreachable));
    assert_eq!(left(&guard).await, [-250]);
    assert!(matches!(guard.reserve(&charges).await, Outcome::Deny(_)), "a debt is seen");
    // With a policy that denies, nothing is let through.
    let charges = [OPEN.charge(()).estimate(10), TOKENS.charge("a").estimate(10)];
    assert!(matches!(guard.reserve(&charges).await, Outcome::Unavailable(_)));
    assert_eq!(store.settles(), 0);
}

#[tokio::test]
async fn what_was_counted_against_a_share_is_settled_against_it() {
    for refund in [false, true] {
        let store = Moody::new();
        let (guard, clock) = guard(&store);
        store.fail(Some(StoreErrorKind::Unreachable));
        let charges = [LOCAL_BUCKET.charge(()).estimate(100)];
        let reservation = allowed(guard.reserve(&charges).await);
        assert!(guard.check(&[LOCAL_BUCKET.charge(()).cost(50)]).await.is_allowed());
        // The whole bucket would be refilled by then; half of it takes twice as long.
        clock.advance(Duration::from_secs(3_600));
        if refund {
            guard.refund(&charges, reservation.pass()).await.unwrap();
        }
        reservation.settle(0).await.unwrap();
        assert_eq!(guard.peek(&charges).await.decisions()[0].decision().left(), 450);
    }
}

#[tokio::test]
async fn what_nothing_counted_is_not_settled() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let (lines, _capture) = Lines::capture();
    store.fail(Some(StoreErrorKind::Unreachable));
    drop(allowed(guard.reserve(&[OPEN.charge(()).estimate(10)]).await));
    allowed(guard.reserve(&[OPEN.charge(()).estimate(10)]).await).settle(700).await.unwrap();
    store.fail(None);
    assert_eq!(store.settles(), 0);
    let lines = lines.read();
    assert!(lines.len() == 1 && lines[0].contains("outage begins"), "{lines:?}");
}

#[tokio::test]
async fn a_pass_is_given_back_once_however_often_it_is_asked_for() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let charges = [TOKENS.charge("a").cost(100)];
    let passes: Vec<_> = [guard.check(&charges).await, guard.check(&charges).await]
        .into_iter()
        .map(|outcome| if let Outcome::Allow(pass) = outcome { pass } else { panic!("there is room") })
        .collect();
    let copy = passes[0].clone();
    store.lose_answers(true);
    guard.refund(&charges, &passes[0]).await.unwrap_err();
    store.lose_answers(false);
    for pass in [&passes[0], &copy, &copy.clone(), &passes[0]] {
        guard.refund(&charges, pass).await.unwrap();
        assert_eq!(used(&guard).await, [0, 100, 0]);
    }
    guard.refund(&charges, &passes[1]).await.unwrap();
    assert_eq!(used(&guard).await, [0, 0, 0]);

    // A reservation and its pass are one thing too.
    let charges = [TOKENS.charge("a").estimate(100)];
    allowed(guard.reserve(&charges).await).settle(100).await.unwrap();
    let reservation = allowed(guard.reserve(&charges).await);
    guard.refund(&charges, reservation.pass()).await.unwrap();
    reservation.settle(0).await.unwrap();
    assert_eq!(used(&guard).await, [0, 100, 0]);
}

#[tokio::test]
async fn an_address_is_not_for_logs() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let reservation = allowed(guard.reserve(&[TOKENS.charge("203.0.113.7").estimate(10)]).await);
    let text = format!("{reservation:?}");
    assert!(text.contains("tokens") && !text.contains("203.0.113"), "{text}");
    store.fail(Some(StoreErrorKind::Busy));
    let unsettled = reservation.settle(3).await.unwrap_err();
    assert!(!format!("{unsettled:?}{unsettled}").contains("203.0.113"));
    store.fail(None);
    unsettled.retry().await.unwrap();
}

#[tokio::test]
async fn a_policy_from_a_file_is_reserved_too() {
    let owned =
        OwnedPolicy::try_new("words", 0, Limit::bucket(100, 1, Window::HOUR), OnOutage::Deny).unwrap();
    let clock = ManualClock::at_unix_ms(NOON);
    let guard = Arc::new(Guard::builder(MemoryStore::new()).policy(&owned).clock(clock).build().unwrap());
    let charge = owned.charge(&[]).unwrap();
    let reservation = allowed(guard.reserve(&[charge.clone().estimate(60)]).await);
    let task = std::thread::spawn(move || reservation.note(75));
    task.join().unwrap();
    let left = guard.peek(&[charge]).await.decisions()[0].decision().left();
    assert_eq!(left, 25, "it went to another thread, and was settled where it was dropped");
}
