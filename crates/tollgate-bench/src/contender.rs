//! Who is measured: each turns a scenario into a check of its n-th key.

use std::{hint::black_box, num::NonZeroU32, time::Duration};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use hashbrown::HashMap;
use tollgate_core::{Limit, Window};
use tollgate_guard::{Clock, Guard, OnOutage, OwnedPolicy, Policy, SystemClock};
use tollgate_memory::MemoryStore;
use tollgate_store::{Charge, Key, KeyParts, Name, Take};

use crate::scenario::Scenario;

/// Checks the key at this place and says whether it was admitted.
pub type Check = Box<dyn FnMut(usize) -> bool>;

/// A limiter under test.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// How the table calls it.
    pub name: &'static str,
    /// Makes it ready: every key known, and over its limit where the scenario says so.
    pub make: fn(&Scenario) -> Check,
}

/// The peer that every ratio is to.
pub const PEER: Contender = Contender { name: "governor, default keyed", make: governor };

/// Those that are held against it.
pub const CONTENDERS: [Contender; 3] = [
    Contender { name: "floor: map lookup and add, no clock", make: floor },
    Contender { name: "tollgate-memory, take", make: memory },
    Contender { name: "tollgate-guard on memory, check_now", make: guard },
];

const POLICY: Policy<1> = Policy::new("bench", Limit::fixed(1 << 50, Window::DAY), OnOutage::Deny);

fn limit(scenario: &Scenario) -> Limit {
    if scenario.rejecting { Limit::fixed(1, Window::WEEK) } else { POLICY.limit() }
}

fn warm(scenario: &Scenario, mut check: impl FnMut(usize) -> bool + 'static) -> Check {
    for at in 0..scenario.keys {
        black_box(check(at));
    }
    Box::new(check)
}

fn floor(scenario: &Scenario) -> Check {
    let texts = scenario.texts();
    let quota = if scenario.rejecting { 1 } else { u64::MAX };
    let mut counts: HashMap<String, u64, foldhash::fast::RandomState> =
        texts.iter().map(|text| (text.clone(), 0)).collect();
    warm(scenario, move |at| {
        let Some(count) = counts.get_mut(texts[at].as_str()) else { return false };
        let admits = *count < quota;
        *count += u64::from(admits);
        admits
    })
}

fn governor(scenario: &Scenario) -> Check {
    let texts = scenario.texts();
    let quota = if scenario.rejecting {
        Quota::with_period(Duration::from_secs(604_800)).map(|quota| quota.allow_burst(NonZeroU32::MIN))
    } else {
        Some(Quota::per_second(NonZeroU32::MAX))
    };
    let quota = quota.unwrap_or_else(|| Quota::per_second(NonZeroU32::MIN));
    let limiter: DefaultKeyedRateLimiter<String> = RateLimiter::keyed(quota);
    warm(scenario, move |at| limiter.check_key(&texts[at]).is_ok())
}

fn memory(scenario: &Scenario) -> Check {
    let texts = scenario.texts();
    let (limit, store) = (limit(scenario), MemoryStore::new());
    warm(scenario, move |at| {
        let parts = texts[at].as_str().into_parts();
        let charge = Charge::new(Key::new(Name::new("bench"), &parts), limit);
        let take = Take { charges: &[charge], now: SystemClock.now() };
        store.take(&take).is_ok_and(|decisions| decisions.is_admitted())
    })
}

fn guard(scenario: &Scenario) -> Check {
    let texts = scenario.texts();
    let limit = limit(scenario);
    let registered = OwnedPolicy::try_new("bench", 1, limit, OnOutage::Deny).ok();
    let guard = registered.and_then(|policy| Guard::builder(MemoryStore::new()).policy(policy).build().ok());
    warm(scenario, move |at| {
        let Some(guard) = &guard else { return false };
        let charge = POLICY.charge(texts[at].as_str()).limit(limit);
        guard.check_now(&[charge]).is_some_and(|outcome| outcome.is_allowed())
    })
}
