//! A store that can be switched off: what an outage looks like, on demand.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use tollgate_store::{
    Claim, Claimed, Claims, Confirm, Decisions, Forget, Hold, Release, Settle, Store, StoreError,
    StoreErrorKind, Take,
};

/// A store of counts or of claims behind a [`Switch`]: while that is off, every call fails as if nothing could be reached.
#[derive(Clone, Debug)]
pub struct Faulty<S> {
    inner: S,
    switch: Switch,
}

/// Switches a [`Faulty`] store on and off. Clones are one switch; it is on at first.
#[derive(Clone, Debug)]
pub struct Switch(Arc<AtomicBool>);

impl Switch {
    /// A switch that is on.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Turns it on or off.
    pub fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::SeqCst);
    }

    /// Whether it is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Default for Switch {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Faulty<S> {
    /// Puts `inner` behind `switch`.
    pub const fn new(inner: S, switch: Switch) -> Self {
        Self { inner, switch }
    }

    fn reach(&self) -> Result<&S, StoreError> {
        if self.switch.is_on() {
            Ok(&self.inner)
        } else {
            Err(StoreError::new(StoreErrorKind::Unreachable, "switched off on purpose: switch it on again"))
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Faulty<S> {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        match self.reach() {
            Ok(store) => store.take_now(take),
            Err(error) => Some(Err(error)),
        }
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.reach()?.take(take).await
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        self.reach()?.settle(settle).await
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.reach()?.forget(forget).await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<C: Claims> Claims for Faulty<C> {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        self.reach()?.claim(claim).await
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        self.reach()?.renew(claim).await
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        self.reach()?.confirm(confirm).await
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        self.reach()?.release(release).await
    }
}
