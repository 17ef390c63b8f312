//! Gives charges back.

use std::sync::OnceLock;

use arrayvec::ArrayVec;
use tollgate_core::Limit;
use tollgate_store::{Correction, MOST_CHARGES, Settle, SettleId, Store, StoreError, random_id};

use crate::{Guard, OnOutage, Pass, PolicyCharge};

impl<S: Store> Guard<S> {
    /// Gives back what `pass` has taken, each charge in the window it was made in.
    ///
    /// `charges` are the ones that were checked, in their order. What no longer counts is left alone. A pass and its clones are given
    /// back once, however often this is called.
    ///
    /// # Errors
    /// If the store could not; trying again is safe. Until then the charges mostly stay spent, which is the safe side.
    /// [`StoreErrorKind::Misuse`](crate::StoreErrorKind::Misuse) if the charges are fewer, or of other policies, than were checked;
    /// nothing is given back then.
    pub async fn refund(&self, charges: &[PolicyCharge<'_>], pass: &Pass) -> Result<(), StoreError> {
        let mut corrections: ArrayVec<Correction<'_>, MOST_CHARGES> = ArrayVec::new();
        for decision in pass.decisions() {
            let charge = charges.get(decision.place());
            // The same charges in another order would be corrections of other counts.
            let Some(charge) = charge.filter(|charge| charge.name().as_str() == &**decision.policy()) else {
                return Err(StoreError::misuse("a refund of other charges than were checked"));
            };
            let delta = i64::try_from(decision.written.get()).unwrap_or(i64::MAX);
            if delta > 0 {
                corrections.push(Correction {
                    key: charge.key(),
                    limit: self.limit_of(charge, pass),
                    stamp: decision.decision.stamp(),
                    delta: -delta,
                });
            }
        }
        if corrections.is_empty() {
            return Ok(());
        }
        let settle = Settle { id: pass.refund_id.get(), corrections: &corrections, now: self.now() };
        match &self.parts.local {
            Some(local) if pass.outage.is_some() => local.settle(settle).await,
            _ => self.parts.store.settle(settle).await,
        }
    }

    /// The limit a charge was held against: while the store was gone, its local share.
    pub(crate) fn limit_of(&self, charge: &PolicyCharge<'_>, pass: &Pass) -> Limit {
        let limit = charge.own_limit();
        match self.find(charge).map(|policy| policy.terms.on_outage) {
            Ok(OnOutage::Local(share)) if pass.outage.is_some() => share.of(limit),
            _ => limit,
        }
    }
}

/// The id under which what a pass took is corrected, made when it is first asked for: a check pays nothing for it.
///
/// Clones have the id of what they were cloned from.
#[derive(Debug)]
pub(crate) struct RefundId(OnceLock<SettleId>);

impl RefundId {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    pub(crate) fn get(&self) -> SettleId {
        *self.0.get_or_init(|| SettleId::new(random_id()))
    }
}

impl Clone for RefundId {
    fn clone(&self) -> Self {
        Self(OnceLock::from(self.get()))
    }
}

/// Two passes that say the same are equal, whichever came first.
impl PartialEq for RefundId {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for RefundId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_an_id_and_no_others_do() {
        let (one, other) = (RefundId::new(), RefundId::new());
        let clone = one.clone();
        assert_eq!((one.get(), one.get()), (clone.get(), clone.clone().get()));
        assert_ne!(one.get(), other.get());
    }
}
