//! The plainest store of claims there is.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tollgate_core::Timestamp;
use tollgate_store::{Claim, ClaimToken, Claimed, Claims, Confirm, Hold, Release, StoreError};

/// The store of claims that others are measured against, and the simplest example of how to write one.
///
/// It keeps every claim for ever, so it is for tests alone.
///
/// ```
/// use tollgate_core::{Timestamp, Window};
/// use tollgate_store::{Claim, ClaimKey, ClaimToken, Claimed, Claims};
/// use tollgate_suite::ReferenceClaims;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let claims = ReferenceClaims::new();
/// let key = ClaimKey::Literal("delivery:1");
/// let claim = Claim { key, token: ClaimToken::new(7), lease: Window::MINUTE, now: Timestamp::EPOCH };
/// assert!(matches!(claims.claim(claim).await?, Claimed::Ours { .. }));
///
/// let another = Claim { token: ClaimToken::new(8), ..claim };
/// assert!(matches!(claims.claim(another).await?, Claimed::Running { .. }));
/// # Ok::<(), tollgate_store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ReferenceClaims {
    kept: Mutex<BTreeMap<Box<[u8]>, Kept>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) token: ClaimToken,
    pub(crate) until: Timestamp,
    pub(crate) is_done: bool,
}

impl ReferenceClaims {
    /// A store that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is kept under a key, ended or not.
    pub(crate) fn find(&self, key: &[u8]) -> Option<Kept> {
        self.kept().get(key).copied()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<Box<[u8]>, Kept>> {
        // A panic cannot leave half a claim behind: each is one value.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the claim of this token another value, if it holds one.
    fn change(&self, key: &[u8], token: ClaimToken, now: Timestamp, to: Kept) -> Hold {
        match self.kept().get_mut(key).filter(|kept| kept.token == token && kept.until > now) {
            Some(kept) if !kept.is_done => {
                *kept = to;
                Hold::Ours
            }
            Some(_) if to.is_done => Hold::Ours,
            _ => Hold::Lost,
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for ReferenceClaims {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        let (mut kept, key) = (self.kept(), claim.key.to_bytes());
        Ok(match kept.get(&key).filter(|kept| kept.until > claim.started_at()) {
            Some(kept) if kept.is_done => Claimed::Done,
            Some(&Kept { token, until, .. }) if token == claim.token => Claimed::Ours { until },
            Some(&Kept { until, .. }) => Claimed::Running { until },
            None => {
                let until = claim.until();
                kept.insert(key, Kept { token: claim.token, until, is_done: false });
                Claimed::Ours { until }
            }
        })
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        let to = Kept { token: claim.token, until: claim.until(), is_done: false };
        Ok(self.change(&claim.key.to_bytes(), claim.token, claim.started_at(), to))
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        let to = Kept { token: confirm.token, until: confirm.until(), is_done: true };
        Ok(self.change(&confirm.key.to_bytes(), confirm.token, confirm.started_at(), to))
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        let (mut kept, key) = (self.kept(), release.key.to_bytes());
        if kept.get(&key).is_some_and(|kept| kept.token == release.token && !kept.is_done) {
            kept.remove(&key);
        }
        Ok(())
    }
}
