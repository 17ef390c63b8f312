//! A store with a server of its own.

use async_trait::async_trait;
use tollgate_redis::{RedisStore, RedisStoreBuilder};
use tollgate_store::{Decisions, Forget, Settle, Store, StoreError, Take};
use tollgate_testbed::RedisServer;

/// A store and the server it counts in, which ends with it.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) store: RedisStore,
    pub(crate) server: RedisServer,
}

impl Served {
    pub(crate) fn start() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(set_up: impl FnOnce(RedisStoreBuilder) -> RedisStoreBuilder) -> Self {
        let server = RedisServer::start();
        let store = set_up(RedisStore::builder(&server.url())).build().expect("this is a URL");
        Self { store, server }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for Served {
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
