//! Gives charges back.

use std::sync::atomic::{AtomicU64, Ordering};

use arrayvec::ArrayVec;
use tollgate_store::{Correction, MOST_CHARGES, Settle, SettleId, Store, StoreError};

use crate::{Guard, OnOutage, Pass, PolicyCharge};

impl<S: Store> Guard<S> {
    /// Gives back what `pass` has taken, each charge in the window it was made in.
    ///
    /// `charges` are the ones that were checked, in their order. What no longer counts is left alone. Each call is a settlement of
    /// its own, so call it once for a pass: a second call gives back once more.
    ///
    /// # Errors
    /// If the store could not. The charges mostly stay spent then, which is the safe side; after a
    /// [`Timeout`](tollgate_store::StoreErrorKind::Timeout) they may have been given back, so do not try again.
    pub async fn refund(&self, charges: &[PolicyCharge<'_>], pass: &Pass) -> Result<(), StoreError> {
        let mut corrections: ArrayVec<Correction<'_>, MOST_CHARGES> = ArrayVec::new();
        for decision in pass.decisions() {
            let Some(charge) = charges.get(decision.place()) else {
                return Err(StoreError::misuse("a refund of other charges than were checked"));
            };
            let delta = i64::try_from(decision.written.get()).unwrap_or(i64::MAX);
            if delta > 0 {
                let limit = if pass.outage.is_some() { self.local_limit(charge) } else { charge.own_limit() };
                corrections.push(Correction {
                    key: charge.key(),
                    limit,
                    stamp: decision.decision.stamp(),
                    delta: -delta,
                });
            }
        }
        if corrections.is_empty() {
            return Ok(());
        }
        let settle = Settle { id: self.parts.ids.next(), corrections: &corrections, now: self.now() };
        match &self.parts.local {
            Some(local) if pass.outage.is_some() => local.settle(settle).await,
            _ => self.parts.store.settle(settle).await,
        }
    }

    /// The limit a charge was held against while the store was gone.
    fn local_limit(&self, charge: &PolicyCharge<'_>) -> tollgate_core::Limit {
        let limit = charge.own_limit();
        match self.find(charge).map(|policy| policy.terms.on_outage) {
            Ok(OnOutage::Local(share)) => share.of(limit),
            _ => limit,
        }
    }
}

/// Makes ids that no two settlements share: 64 random bits for this process, then a count.
#[derive(Debug)]
pub(crate) struct SettleIds {
    process: u64,
    count: AtomicU64,
}

impl SettleIds {
    pub(crate) fn new() -> Self {
        Self { process: random_bits(), count: AtomicU64::new(0) }
    }

    fn next(&self) -> SettleId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        SettleId::new(u128::from(self.process) << 64 | u128::from(count))
    }
}

/// From the system, or where it has none to give, from what the standard library seeds its maps with.
fn random_bits() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    getrandom::u64().unwrap_or_else(|_| RandomState::new().hash_one(0u8))
}
