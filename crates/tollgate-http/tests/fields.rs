//! Every field that is ever sent parses as a structured field, and says what was decided.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Mode, TinyStore};
use proptest::prelude::*;
use sfv::{BareItem, FieldType, List, ListEntry, Parser};
use tollgate_guard::{
    Charging, Guard, Limit, ManualClock, OnOutage, Outcome, OwnedPolicy, Part, Timestamp, Units, Window,
};
use tollgate_http::{rate_limit, rate_limit_policy, retry_after_seconds};

/// The largest integer of a structured field.
const LARGEST: u64 = 999_999_999_999_999;

fn units() -> impl Strategy<Value = u64> {
    prop_oneof![0..5u64, Just(LARGEST), Just(LARGEST + 1), Just(Units::MAX.get()), 0..=Units::MAX.get()]
}

fn window() -> impl Strategy<Value = Window> {
    let ms = prop_oneof![Just(1), Just(999), Just(1_000), Just(1_001), Just(1u64 << 40), 1..=1u64 << 40];
    ms.prop_map(Window::from_ms)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (units(), window()).prop_map(|(quota, window)| Limit::fixed(quota, window)),
        (units(), window()).prop_map(|(quota, window)| Limit::sliding(quota, window)),
        (units(), 1..=Units::MAX.get(), window())
            .prop_map(|(capacity, refill, interval)| Limit::bucket(capacity, refill, interval)),
    ]
}

fn charging() -> impl Strategy<Value = Charging> {
    prop_oneof![Just(Charging::IfAllowed), Just(Charging::Always), Just(Charging::Never)]
}

fn parameter(entry: &ListEntry, key: &str) -> u64 {
    let ListEntry::Item(item) = entry else { panic!("an inner list") };
    let Some(BareItem::Integer(value)) = item.params.get(key) else { panic!("no integer {key}") };
    u64::try_from(*value).unwrap()
}

fn name(entry: &ListEntry) -> String {
    let ListEntry::Item(item) = entry else { panic!("an inner list") };
    let BareItem::String(name) = &item.bare_item else { panic!("no String") };
    name.as_str().to_owned()
}

proptest! {
    #[test]
    fn h6_every_field_parses(
        asked in proptest::collection::vec((limit(), units(), charging(), any::<bool>(), any::<bool>()), 0..=8),
        now in prop_oneof![Just(0), Just(u64::MAX), 0..=1u64 << 53],
        later in prop_oneof![Just(0), Just(u64::MAX), 0..100_000u64],
    ) {
        let clock = ManualClock::at_unix_ms(now);
        let policies: Vec<_> = asked.iter().enumerate().map(|(at, (limit, _, _, _, hidden))| {
            let policy = OwnedPolicy::try_new(format!("policy-{at}"), 0, *limit, OnOutage::Deny).unwrap();
            // A constant cost above the quota is refused at construction; the charge below brings its own.
            let policy = policy.cost(Units::ZERO);
            if *hidden { policy.hidden() } else { policy }
        }).collect();
        let guard = Guard::builder(TinyStore::new(Mode::Now)).policies(&policies).clock(clock).build().unwrap();
        let charges: Vec<_> = policies.iter().zip(&asked).map(|(policy, (_, cost, charging, enforce, _))| {
            let none: [Part<'_>; 0] = [];
            let charge = policy.charge(&none).unwrap().cost(*cost).charging(*charging);
            if *enforce { charge } else { charge.shadow() }
        }).collect();
        for _ in 0..3 {
            let outcome = guard.check_now(&charges).unwrap();
            let now = guard.now().saturating_add_ms(later);
            check(&outcome, now)?;
        }
    }
}

fn check(outcome: &Outcome, now: Timestamp) -> Result<(), TestCaseError> {
    let decisions = outcome.decisions();
    let public: Vec<_> = decisions.iter().filter(|said| !said.is_hidden() && said.is_enforced()).collect();
    let policy = rate_limit_policy(decisions);
    let limit = rate_limit(decisions, now);
    prop_assert_eq!(policy.is_some(), !public.is_empty());
    prop_assert_eq!(limit.is_some(), !public.is_empty());
    let (Some(policy), Some(limit)) = (policy, limit) else { return Ok(()) };

    let parsed = |value: &http::HeaderValue| Parser::new(value.as_bytes()).parse::<List>().unwrap();
    let (policies, limits) = (parsed(&policy), parsed(&limit));
    // What is sent is the canonical form.
    prop_assert_eq!(policies.serialize().unwrap(), policy.to_str().unwrap());
    prop_assert_eq!(limits.serialize().unwrap(), limit.to_str().unwrap());
    prop_assert_eq!((policies.len(), limits.len()), (public.len(), public.len()));
    for ((said, policy), limit) in public.into_iter().zip(&policies).zip(&limits) {
        prop_assert_eq!(name(policy), &**said.policy());
        prop_assert_eq!(name(limit), &**said.policy());
        prop_assert_eq!(parameter(policy, "q"), said.decision().quota().get().min(LARGEST));
        prop_assert_eq!(parameter(limit, "r"), said.decision().remaining().min(LARGEST));
        let w = parameter(policy, "w");
        prop_assert!(w >= 1 && w * 1_000 >= said.period().ms() && (w - 1) * 1_000 < said.period().ms());
        if let (Outcome::Deny(refusal), true) = (outcome, said.refuses())
            && let Some(retry_at) = refusal.retry_at()
        {
            prop_assert!(retry_after_seconds(retry_at, now) >= parameter(limit, "t"));
        }
    }
    Ok(())
}

#[test]
fn h4_a_name_that_would_need_escaping_does_not_come_to_be() {
    for name in ["a\"b", "a\\b", "naïve", "a\r\nset-cookie: a", "a, b", "a;b", ""] {
        let policy = OwnedPolicy::try_new(name, 0, Limit::fixed(1, Window::DAY), OnOutage::Deny);
        assert!(policy.is_err(), "{name:?}");
    }
}

#[test]
fn a_sub_second_window_is_a_whole_second() {
    let policy =
        OwnedPolicy::try_new("burst:ms", 0, Limit::bucket(10, 10, Window::from_ms(1)), OnOutage::Deny)
            .unwrap();
    let guard = Guard::builder(TinyStore::new(Mode::Now)).policy(&policy).build().unwrap();
    let outcome = guard.check_now(&[policy.charge(&[]).unwrap()]).unwrap();
    assert_eq!(rate_limit_policy(outcome.decisions()).unwrap(), r#""burst:ms";q=10;w=1"#);
}
