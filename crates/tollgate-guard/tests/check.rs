//! Checks on a store that works.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::common::{ASK, ASK_ALL, LOOKUP, Lines, Moody, NOON};
use tollgate_guard::{
    Charges, Charging, Clock, Guard, Limit, ManualClock, OnOutage, OutageReason, Outcome, OwnedPolicy, Part,
    Policy, PolicyCharge, StoreErrorKind, Timestamp, Window,
};
use tollgate_store::{Charge, Store, Take};

const BURST: Policy<1> = Policy::new("burst", Limit::fixed(20, Window::MINUTE), OnOutage::Deny).hidden();
const SITE: Policy<1> = Policy::new("site", Limit::fixed(500, Window::DAY), OnOutage::Deny);

fn guard(store: &Arc<Moody>) -> (Guard<Arc<Moody>>, ManualClock) {
    let clock = ManualClock::at_unix_ms(NOON);
    let guard = Guard::builder(Arc::clone(store))
        .policy(ASK)
        .policy(ASK_ALL)
        .policy(LOOKUP)
        .policy(BURST)
        .policy(SITE)
        .clock(clock.clone())
        .build()
        .unwrap();
    (guard, clock)
}

fn four<'a>(project: &'a str, visitor: &'a str) -> [PolicyCharge<'a>; 4] {
    [BURST.charge(visitor), ASK.charge((project, visitor)), SITE.charge(project), ASK_ALL.charge(())]
}

fn used(outcome: &Outcome) -> Vec<u64> {
    outcome.decisions().iter().map(|one| one.decision().used().get()).collect()
}

#[tokio::test]
async fn what_one_limit_refuses_is_charged_to_none() {
    let store = Moody::new();
    let (guard, clock) = guard(&store);
    for _ in 0..15 {
        assert!(guard.check(&four("docs", "one")).await.is_allowed());
    }
    for _ in 0..5 {
        let Outcome::Deny(refusal) = guard.check(&four("docs", "one")).await else { panic!("15 a day") };
        assert_eq!(refusal.refusing().map(|one| one.policy().to_string()).collect::<Vec<_>>(), ["ask"]);
        assert_eq!(refusal.retry_at().unwrap().unix_ms(), NOON.next_multiple_of(86_400_000));
        assert_eq!(refusal.decided_at(), guard.now());
    }
    assert_eq!(used(&guard.peek(&four("docs", "one")).await), [15, 15, 15, 15]);
    assert_eq!(
        used(&guard.peek(&four("docs", "two")).await),
        [0, 0, 15, 15],
        "another visitor has its whole allowance"
    );
    let stats = guard.stats();
    assert_eq!((stats.allowed, stats.refused), (15, 5), "peeks are not counted");
    clock.advance(Duration::from_secs(86_400));
    assert!(guard.check(&four("docs", "one")).await.is_allowed());
}

#[tokio::test]
async fn refused_requests_count_where_they_are_charged_always() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let before = store.takes();
    let mut last = None;
    for _ in 0..17 {
        last = Some(guard.check(&four("docs", "one").map(|charge| charge.charging(Charging::Always))).await);
    }
    let Some(Outcome::Deny(refusal)) = last else { panic!("17 on 15") };
    let left: Vec<_> = refusal.decisions().iter().map(|one| one.decision().left()).collect();
    assert_eq!(left, [20 - 17, -2, 500 - 17, 5_000 - 17]);
    assert!(refusal.decisions().iter().all(|one| one.written().get() == 1));
    assert_eq!(store.takes() - before, 17, "one call a take");
}

#[tokio::test]
async fn a_check_that_is_wrong_is_never_let_through() {
    const STRANGER: Policy<1> = Policy::new("stranger", Limit::fixed(1, Window::DAY), OnOutage::Allow);
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let (lines, _capture) = Lines::capture();
    let two_parts = OwnedPolicy::try_new("lookup", 2, Limit::fixed(1, Window::DAY), OnOutage::Allow).unwrap();
    let parts: Vec<String> = (0..9).map(|at| at.to_string()).collect();
    let wrong: [(&str, Vec<PolicyCharge<'_>>); 4] = [
        ("unknown", vec![STRANGER.charge("a")]),
        ("other parts", vec![two_parts.charge(&[Part::Text("a"), Part::Text("b")]).unwrap()]),
        ("twice", vec![LOOKUP.charge("a"), LOOKUP.charge("a")]),
        ("nine", parts.iter().map(|part| LOOKUP.charge(part)).collect()),
    ];
    for (why, charges) in &wrong {
        let Outcome::Unavailable(outage) = guard.check(charges).await else { panic!("{why}") };
        assert_eq!(outage.reason(), OutageReason::Misuse, "{why}");
        assert_eq!(guard.try_check(charges).await.unwrap_err().kind(), StoreErrorKind::Misuse, "{why}");
        assert!(matches!(guard.check_now(charges), Some(Outcome::Unavailable(_))), "{why}");
        assert_eq!(guard.forget_charges(charges).await.unwrap_err().kind(), StoreErrorKind::Misuse, "{why}");
    }
    assert_eq!(guard.stats().misused, 8);
    assert_eq!(used(&guard.peek(&[LOOKUP.charge("a")]).await), [0], "nothing was written");
    let lines = lines.read();
    assert_eq!(lines.len(), 1, "one line a second: {lines:?}");
    assert!(lines[0].contains("ERROR"));
}

#[tokio::test]
async fn one_request_may_have_another_limit_cost_or_no_vote() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let large = LOOKUP.charge("acme").limit(Limit::fixed(60, Window::HOUR)).cost(40);
    assert!(guard.check(&[large]).await.is_allowed());
    let plain = guard.check(&[LOOKUP.charge("acme")]).await;
    assert!(!plain.is_allowed());
    assert_eq!(plain.decisions()[0].decision().left(), 3 - 40);
    let shadow = guard.check(&[LOOKUP.charge("acme").shadow(), SITE.charge("docs")]).await;
    assert!(shadow.is_allowed());
    assert!(!shadow.decisions()[0].refuses() && !shadow.decisions()[0].decision().is_allowed());
    assert_eq!(shadow.decisions()[0].written().get(), 0);
    assert!(!guard.check(&[SITE.charge("docs").cost(u64::MAX)]).await.is_allowed());
    assert!(guard.check(&[]).await.is_allowed(), "what nothing limits goes ahead");
}

#[tokio::test]
async fn a_decision_carries_what_is_needed_to_speak_of_it() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let outcome = guard.check(&four("docs", "one")).await;
    let told: Vec<_> = outcome
        .decisions()
        .iter()
        .map(|one| (one.policy().to_string(), one.period().ms(), one.is_hidden(), one.written().get()))
        .collect();
    let expected = [
        ("burst", 60_000, true),
        ("ask", 86_400_000, false),
        ("site", 86_400_000, false),
        ("ask-all", 86_400_000, false),
    ];
    assert_eq!(told, expected.map(|(name, ms, hidden)| (name.to_owned(), ms, hidden, 1)));
}

#[tokio::test]
async fn peeking_and_forgetting() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    for _ in 0..3 {
        assert!(guard.peek(&[LOOKUP.charge("acme")]).await.is_allowed());
        assert!(guard.check(&[LOOKUP.charge("acme")]).await.is_allowed());
        assert!(guard.check(&[LOOKUP.charge("zeta")]).await.is_allowed());
    }
    assert!(!guard.peek(&[LOOKUP.charge("acme")]).await.is_allowed());
    guard.forget(&LOOKUP, "acme").await.unwrap();
    assert_eq!(used(&guard.peek(&[LOOKUP.charge("acme")]).await), [0]);
    assert_eq!(used(&guard.peek(&[LOOKUP.charge("zeta")]).await), [3], "only the named key");
}

#[tokio::test]
async fn a_store_that_waits_is_waited_for() {
    let store = Moody::new();
    store.wait();
    let (guard, _clock) = guard(&store);
    assert_eq!(guard.check_now(&[LOOKUP.charge("acme")]), None);
    assert_eq!(store.takes(), 0, "nothing was counted");
    assert_eq!(used(&guard.check(&[LOOKUP.charge("acme")]).await), [1]);
}

#[tokio::test]
async fn owned_charges_are_the_charges_they_came_from() {
    let store = Moody::new();
    let (guard, _clock) = guard(&store);
    let visitor = String::from("2001:db8:0:0::/64");
    let charges = Charges::from(four("docs", &visitor).map(|charge| charge.cost(2)));
    assert_eq!(&charges.borrowed()[..], &four("docs", &visitor).map(|charge| charge.cost(2)));
    assert!(guard.check(&charges.borrowed()).await.is_allowed());
    assert_eq!(used(&guard.peek(&four("docs", &visitor)).await), [2, 2, 2, 2]);
    let nine: Charges = (0..12u32).map(|at| LOOKUP.charge(at)).collect();
    assert!(
        matches!(guard.check(&nine.borrowed()).await, Outcome::Unavailable(_)),
        "too many are a misuse, not cut off"
    );
    for text in [format!("{charges:?}"), format!("{:?}", charges.borrowed())] {
        assert!(!text.contains("2001:db8"), "an address is not for logs: {text}");
    }
}

#[tokio::test]
async fn what_was_taken_is_given_back_where_it_was_taken() {
    let store = Moody::new();
    let (guard, clock) = guard(&store);
    let charges = [LOOKUP.charge("acme").cost(2), SITE.charge("docs").charging(Charging::Never)];
    let Outcome::Allow(pass) = guard.check(&charges).await else { panic!("fresh") };
    guard.refund(&charges, &pass).await.unwrap();
    assert_eq!(used(&guard.peek(&charges).await), [0, 0]);
    let Outcome::Allow(late) = guard.check(&charges).await else { panic!("given back") };
    clock.advance(Duration::from_secs(3_600));
    assert!(guard.check(&charges).await.is_allowed());
    guard.refund(&charges, &late).await.unwrap();
    assert_eq!(used(&guard.peek(&charges).await), [2, 0], "the window of that charge is over");
    assert!(guard.refund(&[], &late).await.is_err(), "other charges than were checked");

    // The same in another order are others too: each would be given back from the count of the other.
    let charges = [LOOKUP.charge("other").cost(1), SITE.charge("docs").cost(1)];
    let Outcome::Allow(pass) = guard.check(&charges).await else { panic!("there is room") };
    let before = used(&guard.peek(&charges).await);
    let [first, second] = charges.clone();
    let error = guard.refund(&[second, first], &pass).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misuse);
    assert_eq!(used(&guard.peek(&charges).await), before);
}

/// Tells these times, and the last of them from then on.
#[derive(Debug)]
struct Told(Mutex<Vec<u64>>);

impl Clock for Told {
    fn now(&self) -> Timestamp {
        let mut times = self.0.lock().unwrap();
        Timestamp::from_unix_ms(if times.len() > 1 { times.remove(0) } else { times[0] })
    }
}

#[tokio::test]
async fn a_check_that_is_late_is_no_clock_that_is_behind() {
    const TINY: Policy<0> = Policy::new("tiny", Limit::fixed(5, Window::from_ms(10)), OnOutage::Deny);
    let stored = NOON + 100;
    // Read at noon, the clock is behind what others have stored; the question is what it says by the time that is known.
    for (late, waits, expected) in [
        (stored, false, Some(3)),
        (stored + 3, true, Some(3)),
        (stored + 500, false, Some(4)),
        (stored - 1, false, None),
        (NOON, true, None),
    ] {
        let store = Moody::new();
        if waits {
            store.wait();
        }
        let tiny = TINY.charge(());
        let other = Charge::new(tiny.key(), TINY.limit());
        assert!(store.take(Take { charges: &[other], now: Timestamp::from_unix_ms(stored) }).await.is_ok());
        let clock = Told(Mutex::new(vec![NOON, late]));
        let guard = Guard::builder(store).policy(TINY).clock(clock).build().unwrap();
        let left = match guard.check(std::slice::from_ref(&tiny)).await {
            Outcome::Allow(pass) => {
                assert_eq!(pass.decided_at().unix_ms(), late);
                Some(pass.decisions()[0].decision().remaining())
            }
            Outcome::Unavailable(outage) => {
                assert_eq!(outage.reason(), OutageReason::Store(StoreErrorKind::ClockBehind));
                None
            }
            Outcome::Deny(_) => panic!("5 in 10 ms"),
        };
        assert_eq!(left, expected, "{late}");
    }
}
