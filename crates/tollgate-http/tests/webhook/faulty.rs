//! A store of claims that fails at will, or whose answers are lost and asked for again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use tollgate_store::{Claim, Claimed, Claims, Confirm, Hold, Release, StoreError, StoreErrorKind};

#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    inner: Arc<dyn Claims>,
    fails: Arc<AtomicBool>,
    sends_twice: Arc<AtomicBool>,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Claims>) -> Self {
        Self { inner, fails: Arc::default(), sends_twice: Arc::default() }
    }

    /// Fails each call from now on, or no longer.
    pub(crate) fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    /// Loses the first answer to each call from now on, and sends the call again.
    pub(crate) fn send_twice(&self) {
        self.sends_twice.store(true, Ordering::SeqCst);
    }

    fn check(&self) -> Result<bool, StoreError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Unreachable, "a test says so"));
        }
        Ok(self.sends_twice.load(Ordering::SeqCst))
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for Faulty {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        if self.check()? {
            let _ = self.inner.claim(claim).await?;
        }
        self.inner.claim(claim).await
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        if self.check()? {
            let _ = self.inner.renew(claim).await?;
        }
        self.inner.renew(claim).await
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        if self.check()? {
            let _ = self.inner.confirm(confirm).await?;
        }
        self.inner.confirm(confirm).await
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        if self.check()? {
            self.inner.release(release).await?;
        }
        self.inner.release(release).await
    }
}
