//! A claim that is held, and the calls about it.

use std::sync::Arc;

use tollgate_store::{Claim, ClaimToken, Claimed, Confirm, Hold, Release, StoreError};

use crate::{DeliveryTicket, deliveries::Shared, place::Place};

/// A claim, with all that a call about it needs.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) shared: Arc<Shared>,
    pub(crate) place: Arc<Place>,
    pub(crate) token: ClaimToken,
    /// Whether the store has said so.
    pub(crate) is_claimed: bool,
}

impl Held {
    pub(crate) async fn claim(&self) -> Result<Claimed, StoreError> {
        let parts = self.place.parts();
        self.shared.claims.claim(self.asked(&parts)).await
    }

    pub(crate) async fn renew(&self) -> Result<Hold, StoreError> {
        if !self.is_ours().await? {
            return Ok(Hold::Lost);
        }
        if self.shared.terms.simple.is_some() {
            return Ok(Hold::Ours);
        }
        let parts = self.place.parts();
        self.shared.claims.renew(self.asked(&parts)).await
    }

    pub(crate) async fn confirm(&self) -> Result<Hold, StoreError> {
        if !self.is_ours().await? {
            return Ok(Hold::Lost);
        }
        let parts = self.place.parts();
        let confirm = Confirm {
            key: self.place.key(&parts),
            token: self.token,
            retention: self.shared.terms.retention,
            now: (self.shared.clock)(),
        };
        self.shared.claims.confirm(confirm).await
    }

    /// What could not be claimed when it arrived is claimed now, unless another has it by now. To claim it again changes nothing.
    async fn is_ours(&self) -> Result<bool, StoreError> {
        Ok(self.is_claimed || matches!(self.claim().await?, Claimed::Ours { .. }))
    }

    pub(crate) async fn release(&self) -> Result<(), StoreError> {
        let parts = self.place.parts();
        self.shared.claims.release(Release { key: self.place.key(&parts), token: self.token }).await
    }

    pub(crate) fn ticket(&self) -> DeliveryTicket {
        let Place { scope, id, .. } = &*self.place;
        DeliveryTicket {
            scope: scope.clone(),
            id: id.clone(),
            token: self.token,
            is_claimed: self.is_claimed,
        }
    }

    fn asked<'a>(&'a self, parts: &'a [tollgate_store::Part<'a>; 2]) -> Claim<'a> {
        let Shared { clock, terms, .. } = &*self.shared;
        Claim { key: self.place.key(parts), token: self.token, lease: terms.lease, now: clock() }
    }
}
