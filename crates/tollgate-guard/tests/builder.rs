//! Policies that cannot stand together, or could not do what they say, do not make a guard.

use std::sync::Arc;

use crate::common::{ASK, ASK_ALL, LOOKUP, Moody};
use tollgate_guard::{
    AnyPolicy, Guard, GuardError, Limit, Limiter, LimiterError, OnOutage, OwnedPolicy, Policy, Share,
    SystemClock, Units, Window,
};
use tollgate_memory::MemoryStore;

const QUARTER: Policy<1> =
    Policy::new("quarter", Limit::fixed(3, Window::DAY), OnOutage::Local(Share::percent(25)));
const HALF: Policy<1> =
    Policy::new("half", Limit::fixed(3, Window::DAY), OnOutage::Local(Share::percent(50)));

fn build(policies: Vec<AnyPolicy>) -> Result<(), GuardError> {
    Guard::builder(MemoryStore::new()).policies(policies).build().map(drop)
}

#[test]
fn policies_that_collide_are_refused() {
    let longer: Policy<0> = Policy::new("ask:day", Limit::fixed(1, Window::DAY), OnOutage::Deny);
    let beside: Policy<0> = Policy::new("ask-day", Limit::fixed(1, Window::DAY), OnOutage::Deny);
    let owned = OwnedPolicy::try_new("ask", 2, Limit::fixed(1, Window::DAY), OnOutage::Allow).unwrap();
    assert!(matches!(build(vec![ASK.into(), LOOKUP.into(), ASK.into()]), Err(GuardError::SameName { .. })));
    assert!(matches!(build(vec![ASK.into(), owned.into()]), Err(GuardError::SameName { .. })));
    for policies in [vec![ASK.into(), longer.into()], vec![longer.into(), ASK.into()]] {
        let Err(GuardError::NameExtends { short, long }) = build(policies) else {
            panic!("names that extend")
        };
        assert_eq!((&*short, &*long), ("ask", "ask:day"));
    }
    assert_eq!(build(vec![ASK.into(), ASK_ALL.into(), LOOKUP.into(), beside.into()]), Ok(()));
}

#[test]
fn a_constant_cost_above_the_quota_is_refused() {
    let cost = |quota, cost| {
        build(vec![
            Policy::<0>::new("upload", Limit::fixed(quota, Window::DAY), OnOutage::Deny).cost(cost).into(),
        ])
    };
    assert!(matches!(cost(10, 11), Err(GuardError::CostAboveQuota { .. })));
    assert_eq!(cost(10, 10), Ok(()));
    assert_eq!(cost(0, 1), Ok(()), "a quota of 0 is a closed limit, and meant to be");
}

#[test]
fn a_local_policy_needs_a_store_that_answers_at_once_and_a_share_to_spend() {
    assert!(matches!(build(vec![HALF.into()]), Err(GuardError::NoLocalStore { .. })));
    let local = |policy: Policy<1>, store| {
        Guard::builder(MemoryStore::new()).local(store).policy(policy).build().map(drop)
    };
    assert_eq!(local(HALF, Arc::new(MemoryStore::new())), Ok(()));
    assert!(
        matches!(local(QUARTER, Arc::new(MemoryStore::new())), Err(GuardError::EmptyShare { .. })),
        "3/4 is less than 1"
    );
    assert!(
        matches!(local(HALF.cost(2), Arc::new(MemoryStore::new())), Err(GuardError::EmptyShare { .. })),
        "half of 3 is less than 2"
    );
    let waits = Moody::new();
    waits.wait();
    assert_eq!(local(HALF, waits), Err(GuardError::LocalStoreWaits));
}

#[test]
fn errors_say_what_to_do() {
    let Err(error) = build(vec![ASK.into(), ASK.into()]) else { panic!("one name") };
    assert_eq!(error.to_string(), "two policies are called \"ask\": give each a name of its own");
}

#[test]
fn owned_policies_are_checked_like_constants() {
    let limit = Limit::fixed(1, Window::DAY);
    assert!(OwnedPolicy::try_new("Not a name", 1, limit, OnOutage::Deny).is_err());
    assert!(OwnedPolicy::try_new("five", 5, limit, OnOutage::Deny).is_err());
    let four = OwnedPolicy::try_new("four", 4, limit, OnOutage::Deny).unwrap().cost(Units::new(1)).hidden();
    assert_eq!((four.name(), four.parts(), four.limit()), ("four", 4, limit));
    assert!(four.charge(&[]).is_err());
    assert_eq!((OwnedPolicy::from(ASK).parts(), four.on_outage()), (2, OnOutage::Deny));
    let limiter = Limiter::new(four, Arc::new(MemoryStore::new()), SystemClock);
    assert!(matches!(limiter, Err(LimiterError::Policy(_))), "a limiter has one part");
}
