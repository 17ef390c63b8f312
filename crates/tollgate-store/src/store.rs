//! The contract that a backend keeps.

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::{Decisions, Forget, Settle, StoreError, Take};

/// Whatever keeps the counts: a map in memory, a Redis, a decorator round another store.
///
/// This is the contract between backends and the guard; whoever uses a store mostly holds a guard. There are no default
/// methods, so a decorator cannot forget one. A store never reads a clock: time comes with each call. What else it owes is in
/// the crate `tollgate-suite`, as cases to run.
///
/// As written, without the macro's lifetimes:
/// ```text
/// fn       take_now(&self, take: &Take<'_>)  -> Option<Result<Decisions, StoreError>>;
/// async fn take(&self, take: Take<'_>)       -> Result<Decisions, StoreError>;
/// async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError>;
/// async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError>;
/// ```
#[async_trait]
pub trait Store: Debug + Send + Sync + 'static {
    /// As [`Store::take`] where nothing has to be waited for: no future, no allocation. `None` sends the caller to `take`, and
    /// nothing has been counted then.
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>>;

    /// Takes all charges or none, in one round trip: if every enforced one fits, all are written; otherwise only those that are
    /// charged always.
    ///
    /// # Errors
    /// If the store could not decide. What was written then is all of what the take would have written or nothing, never a part.
    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError>;

    /// Corrects earlier charges in the windows they were made in. One id is applied once; what no longer counts is left alone.
    ///
    /// # Errors
    /// If the store could not; sending the same settlement again is safe.
    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError>;

    /// Forgets what the named keys have spent.
    ///
    /// # Errors
    /// If the store could not; sending it again is safe.
    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store + ?Sized> Store for Arc<S> {
    #[inline]
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        (**self).take_now(take)
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        (**self).take(take).await
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        (**self).settle(settle).await
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        (**self).forget(forget).await
    }
}
