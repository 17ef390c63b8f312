//! What each policy does when the store fails.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tollgate_guard::{
    Clock, Guard, Limit, OnOutage, OutageReason, Outcome, Policy, Share, Store, StoreErrorKind, Timestamp,
    Units, Window,
};
use tollgate_memory::MemoryStore;

/// How much longer than the deadline of a store a call may take on a busy machine.
pub const SLACK: Duration = Duration::from_secs(2);

/// Of each policy in the store, and half of that locally.
const QUOTA: u64 = 1_000_000_000;
const LIMIT: Limit = Limit::fixed(QUOTA, Window::DAY);

const OPEN: Policy<1> = Policy::new("open", LIMIT, OnOutage::Allow);
const CLOSED: Policy<1> = Policy::new("closed", LIMIT, OnOutage::Deny);
const LOCAL: Policy<1> = Policy::new("local", LIMIT, OnOutage::Local(Share::percent(50)));

/// One for each thing that can be done in an outage.
pub(crate) const POLICIES: [Policy<1>; 3] = [OPEN, CLOSED, LOCAL];

/// Goes on from a noon of old, so that no day ends between two checks.
#[derive(Debug)]
struct FromNoon(Instant);

impl Clock for FromNoon {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(NOON_MS).saturating_add(self.0.elapsed())
    }
}

const NOON_MS: u64 = 1_796_040_000_000;

/// A guard with a policy for each thing that can be done in an outage.
#[derive(Debug)]
pub struct Guarded<S> {
    guard: Guard<S>,
    deadline: Duration,
}

impl<S: Store> Guarded<S> {
    /// On a store that answers within this time.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn new(store: S, deadline: Duration) -> Self {
        let guard = Guard::builder(store).local(Arc::new(MemoryStore::new())).policies(POLICIES);
        let guard = guard.clock(FromNoon(Instant::now())).build();
        Self { guard: guard.expect("these policies can stand together"), deadline }
    }

    /// Checks each policy and demands what it says for a failure of this kind, within the deadline.
    ///
    /// # Panics
    /// If the guard does something else.
    pub async fn demand_outage(&self, kind: StoreErrorKind, why: &str) {
        // Of what counts locally, all of its share at once.
        for (policy, cost) in POLICIES.iter().zip([1, 1, QUOTA / 2]) {
            let outcome = self.check(policy, "one", cost).await;
            assert_eq!(outage(policy, &outcome), Some(kind), "{why}: {policy:?}");
        }
        let Outcome::Deny(refusal) = self.check(&LOCAL, "one", 1).await else {
            panic!("{why}: more than the share was let through")
        };
        assert_eq!(refusal.outage(), Some(OutageReason::Store(kind)), "{why}");
    }

    /// Checks each policy and demands that it counts in the store.
    ///
    /// # Panics
    /// If it does not.
    pub async fn demand_count(&self, key: &str) {
        for policy in &POLICIES {
            for used in 1..=3 {
                let outcome = self.check(policy, key, 1).await;
                assert_eq!(outage(policy, &outcome), None, "{policy:?}");
                assert_eq!(outcome.decisions()[0].decision().used(), Units::new(used), "{policy:?}");
            }
        }
    }

    /// Checks a policy, within the deadline.
    pub(crate) async fn check(&self, policy: &Policy<1>, key: &str, cost: u64) -> Outcome {
        let start = Instant::now();
        let outcome = self.guard.check(&[policy.charge(key).cost(cost)]).await;
        let took = start.elapsed();
        assert!(took < self.deadline + SLACK, "{policy:?}: {outcome:?} after {took:?}");
        outcome
    }
}

/// Why the store did not decide, if it did not; and that what was done then is what the policy says.
pub(crate) fn outage(policy: &Policy<1>, outcome: &Outcome) -> Option<StoreErrorKind> {
    let reason = match outcome {
        Outcome::Allow(pass) => pass.outage(),
        Outcome::Unavailable(outage) => Some(outage.reason()),
        Outcome::Deny(refusal) => panic!("{policy:?}: {refusal:?}"),
    };
    let quotas: Vec<u64> =
        outcome.decisions().iter().map(|decision| decision.decision().quota().get()).collect();
    let Some(reason) = reason else {
        assert_eq!(quotas, [QUOTA], "{policy:?}: it is not the store that counted");
        return None;
    };
    let expected = match policy.name().as_str() {
        "open" => (true, &[][..]),
        "closed" => (false, &[][..]),
        _ => (true, &[QUOTA / 2][..]),
    };
    assert_eq!((outcome.is_allowed(), &*quotas), expected, "{policy:?}: {outcome:?}");
    match reason {
        OutageReason::Store(kind) => Some(kind),
        other => panic!("{policy:?}: {other:?} is no fault of the store"),
    }
}
