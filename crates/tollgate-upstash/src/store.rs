//! The store.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tollgate_script::{
    Call, Prefix, Reply, claim_answer, claim_call, confirm_call, forget_answer, forget_call, hold_answer,
    release_answer, release_call, renew_call, settle_answer, settle_call, take_answer, take_call,
};
use tollgate_store::{
    Claim, Claimed, Claims, Confirm, Decisions, Forget, Hold, Release, Settle, Store, StoreError, Take,
};

use crate::{
    Credentials, UpstashConfigError, UpstashStoreBuilder,
    client::{Client, Manner},
};

/// Counts, and keeps claims, in a database of Upstash, over its REST API.
///
/// All stores of a process with the same credentials share one client: its connections, its queue and how far the service said
/// it is. Cloning one is cheap, and the clones share too. It must be used within a Tokio runtime with I/O and time enabled.
///
/// A call is answered or failed within the deadline. Where the service was not reached, or a status of 5xx says that it is not
/// there, the request is sent again, at most twice, 100 ms apart; however often a take arrives it is counted once. A Redis error
/// is an answer and never sent again.
#[derive(Clone, Debug)]
pub struct UpstashStore {
    client: Arc<Client>,
    prefix: Prefix,
    manner: Manner,
    replay: Duration,
}

impl UpstashStore {
    /// How long a call may take if nobody says otherwise.
    pub const DEADLINE: Duration = Duration::from_secs(1);

    /// A store with all defaults. Nothing is sent yet.
    ///
    /// # Errors
    /// Only if encryption could not be set up.
    pub fn new(credentials: Credentials) -> Result<Self, UpstashConfigError> {
        Self::builder(credentials).build()
    }

    /// A store that is put together step by step.
    pub fn builder(credentials: Credentials) -> UpstashStoreBuilder {
        UpstashStoreBuilder::new(credentials)
    }

    pub(crate) const fn from_parts(
        client: Arc<Client>,
        prefix: Prefix,
        manner: Manner,
        replay: Duration,
    ) -> Self {
        Self { client, prefix, manner, replay }
    }

    /// What its keys begin with.
    #[must_use]
    pub const fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    async fn send(&self, call: &Call) -> Result<Reply, StoreError> {
        self.client.call(call, self.manner).await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for UpstashStore {
    /// Never at once: the counts are elsewhere.
    fn take_now(&self, _take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        None
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        if take.charges.is_empty() {
            return Decisions::decide(&take, [], |_, _| ());
        }
        let call = take_call(&self.prefix, &take, None)?;
        take_answer(&take, &self.client.take(call, &self.prefix, self.replay, self.manner).await?)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        let call = settle_call(&self.prefix, &settle)?;
        if settle.corrections.is_empty() {
            return Ok(());
        }
        settle_answer(&self.send(&call).await?)
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        let call = forget_call(&self.prefix, &forget)?;
        if forget.targets.is_empty() {
            return Ok(());
        }
        forget_answer(&self.send(&call).await?)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for UpstashStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        let call = claim_call(&self.prefix, &claim)?;
        claim_answer(&claim, &self.send(&call).await?)
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        let call = renew_call(&self.prefix, &claim)?;
        hold_answer(&self.send(&call).await?)
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        let call = confirm_call(&self.prefix, &confirm)?;
        hold_answer(&self.send(&call).await?)
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        let call = release_call(&self.prefix, &release)?;
        release_answer(&self.send(&call).await?)
    }
}
