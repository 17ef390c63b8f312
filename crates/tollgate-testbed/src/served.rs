//! A store with a server of its own.

use async_trait::async_trait;
use tollgate_store::{
    Claim, Claimed, Claims, Confirm, Decisions, Forget, Hold, Release, Settle, Store, StoreError, Take,
};

use crate::RedisServer;

/// A store and the servers it counts in, which end with it.
#[derive(Debug)]
pub struct Served<S, G = ()> {
    /// The store.
    pub store: S,
    /// What is between the store and the Redis, if anything is.
    pub gateway: G,
    /// The Redis.
    pub redis: RedisServer,
}

impl<S: Store> Served<S> {
    /// A store that talks to the Redis itself.
    #[must_use]
    pub fn start(store: impl FnOnce(&RedisServer) -> S) -> Self {
        let redis = RedisServer::start();
        Self { store: store(&redis), gateway: (), redis }
    }
}

#[cfg(feature = "gateway")]
impl<S: Store> Served<S, crate::RestApi> {
    /// A store that talks to a gateway in front of the Redis.
    #[must_use]
    pub fn start_behind_a_gateway(store: impl FnOnce(&crate::RestApi) -> S) -> Self {
        let redis = RedisServer::start();
        let gateway = crate::RestApi::start(&redis);
        Self { store: store(&gateway), gateway, redis }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store, G: std::fmt::Debug + Send + Sync + 'static> Store for Served<S, G> {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        self.store.take_now(take)
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.store.take(take).await
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        self.store.settle(settle).await
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.store.forget(forget).await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Claims, G: std::fmt::Debug + Send + Sync + 'static> Claims for Served<S, G> {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        self.store.claim(claim).await
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        self.store.renew(claim).await
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        self.store.confirm(confirm).await
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        self.store.release(release).await
    }
}
