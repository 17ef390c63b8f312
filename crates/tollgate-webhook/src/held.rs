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
        if self.shared.terms.simple.is_some() {
            return Ok(Hold::Ours);
        }
        let parts = self.place.parts();
        self.shared.claims.renew(self.asked(&parts)).await
    }

    pub(crate) async fn confirm(&self) -> Result<Hold, StoreError> {
        if !self.is_claimed && !matches!(self.claim().await?, Claimed::Ours { .. }) {
            return Ok(Hold::Lost);
        }
        if self.shared.terms.simple.is_some() {
            return Ok(Hold::Ours);
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

    pub(crate) async fn release(&self) -> Result<(), StoreError> {
        let parts = self.place.parts();
        self.shared.claims.release(Release { key: self.place.key(&parts), token: self.token }).await
    }

    pub(crate) fn ticket(&self) -> DeliveryTicket {
        DeliveryTicket { scope: self.place.scope.clone(), id: self.place.id.clone(), token: self.token }
    }

    fn asked<'a>(&'a self, parts: &'a [tollgate_store::Part<'a>; 2]) -> Claim<'a> {
        let Shared { clock, terms, .. } = &*self.shared;
        Claim { key: self.place.key(parts), token: self.token, lease: terms.lease, now: clock() }
    }
}
