//! The contract for work that is to be done once: claim, then confirm or release.

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::{Claim, Confirm, Release, StoreError};

/// Whatever keeps who works on what, so that a message which arrives several times is worked on once.
///
/// A claim is held for a lease; confirmed, it is remembered as done for a retention; released, it is free again. Whoever claims
/// names itself by a [`ClaimToken`](crate::ClaimToken), and only that token confirms, renews or releases: so a reply that is lost, or a
/// call that is sent again, is harmless, and somebody whose lease ran out cannot undo what the next one does.
///
/// A lease or a retention that has ended is as if it had never been: from its last instant on, by the caller's time, the key is free.
/// There are no default methods, so a decorator cannot forget one. A store never reads a clock. What else it owes is in the crate
/// `tollgate-suite`, as cases to run.
///
/// This is at least once, with duplicates held back: whoever does its work and ends before it confirms has it done again.
///
/// As written, without the macro's lifetimes:
/// ```text
/// async fn claim(&self, claim: Claim<'_>)       -> Result<Claimed, StoreError>;
/// async fn renew(&self, claim: Claim<'_>)       -> Result<Hold, StoreError>;
/// async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError>;
/// async fn release(&self, release: Release<'_>) -> Result<(), StoreError>;
/// ```
#[async_trait]
pub trait Claims: Debug + Send + Sync + 'static {
    /// Claims a key for this token: [`Claimed::Ours`] if nobody holds it, or if this token does already.
    ///
    /// A claim that this token holds is left as it is, its lease too: to send a claim again changes nothing.
    ///
    /// # Errors
    /// If the store could not tell. The claim may have been made then; to send it again is safe.
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError>;

    /// Gives a claim that this token holds a lease from now on: [`Hold::Lost`] if it holds none.
    ///
    /// # Errors
    /// If the store could not; sending it again is safe.
    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError>;

    /// Has a claim of this token remembered as done: [`Hold::Lost`] if its lease ran out, whoever has it now; nothing is written
    /// then. What this token confirmed before stays as it is and is ours.
    ///
    /// # Errors
    /// If the store could not; sending it again is safe.
    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError>;

    /// Frees a claim of this token. What others hold, and what is done, is left alone: afterwards, this token holds no claim.
    ///
    /// # Errors
    /// If the store could not; sending it again is safe.
    async fn release(&self, release: Release<'_>) -> Result<(), StoreError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<C: Claims + ?Sized> Claims for Arc<C> {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        (**self).claim(claim).await
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        (**self).renew(claim).await
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        (**self).confirm(confirm).await
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        (**self).release(release).await
    }
}

/// Whose a key is after a claim.
///
/// The enum is exhaustive on purpose: there is a way of going on for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Claimed {
    /// This token's: the work is to be done.
    Ours {
        /// When the lease ends.
        until: tollgate_core::Timestamp,
    },
    /// Another token's, whose lease has not ended.
    Running {
        /// When that lease ends, unless it is renewed.
        until: tollgate_core::Timestamp,
    },
    /// Nobody's any more: the work was done.
    Done,
}

/// Whether a claim was still held.
///
/// The enum is exhaustive on purpose: there is nothing between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Hold {
    /// It was.
    Ours,
    /// It was not: the lease had run out, so somebody else may have done the work too, or may be doing it.
    Lost,
}
