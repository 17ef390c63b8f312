//! A bound on how long a store may take to answer.

use std::{fmt, future::Future, time::Duration};

use async_trait::async_trait;

use crate::{
    Claim, Claimed, Claims, Confirm, Decisions, Forget, Hold, Release, Settle, Store, StoreError,
    StoreErrorKind, Take,
};

/// A store, of counts or of claims, that answers within a deadline, round one that has none of its own.
///
/// A call that takes longer is given up with [`StoreErrorKind::Timeout`]; it may still be counted afterwards. The stores of this
/// project that use a network have a deadline of their own and need no decorator. Must be used within a Tokio runtime with time
/// enabled, save for [`Store::take_now`], which never waits.
#[derive(Clone, Debug)]
pub struct Deadline<S> {
    inner: S,
    after: Duration,
}

impl<S> Deadline<S> {
    /// Gives `inner` this long for each call.
    ///
    /// # Errors
    /// Only if `after` is zero: such a store would never answer.
    pub fn new(inner: S, after: Duration) -> Result<Self, DeadlineError> {
        if after.is_zero() { Err(DeadlineError(())) } else { Ok(Self { inner, after }) }
    }

    /// The store inside.
    #[must_use]
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    #[expect(clippy::disallowed_methods, reason = "this is the decorator that owns a timer")]
    async fn within<T>(&self, call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        match tokio::time::timeout(self.after, call).await {
            Ok(answer) => answer,
            Err(_elapsed) => {
                let ms = self.after.as_millis();
                Err(StoreError::new(StoreErrorKind::Timeout, format!("given up after {ms} ms")))
            }
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Deadline<S> {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        self.inner.take_now(take)
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.within(self.inner.take(take)).await
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        self.within(self.inner.settle(settle)).await
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.within(self.inner.forget(forget)).await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<C: Claims> Claims for Deadline<C> {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        self.within(self.inner.claim(claim)).await
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        self.within(self.inner.renew(claim)).await
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        self.within(self.inner.confirm(confirm)).await
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        self.within(self.inner.release(release)).await
    }
}

/// A deadline of no time at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineError(());

impl fmt::Display for DeadlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a deadline of zero leaves no time to answer: use at least 1 ms")
    }
}

impl std::error::Error for DeadlineError {}
