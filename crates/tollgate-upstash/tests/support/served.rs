//! A store with a gateway and a Redis of its own.

use std::{net::SocketAddr, time::Duration};

use async_trait::async_trait;
use tokio::{net::TcpListener, task::JoinHandle};
use tollgate_gateway::Gateway;
use tollgate_store::{Decisions, Forget, Settle, Store, StoreError, Take};
use tollgate_testbed::RedisServer;
use tollgate_upstash::{Credentials, UpstashStore, UpstashStoreBuilder};

use super::TOKEN;

pub(crate) const READ_ONLY: &str = "only-to-read";

/// A store, and what it counts in, which ends with it.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) store: UpstashStore,
    pub(crate) redis: RedisServer,
    pub(crate) address: SocketAddr,
    gateway: JoinHandle<()>,
}

impl Served {
    /// With time enough for whatever machine runs the test.
    pub(crate) async fn start(set_up: impl FnOnce(UpstashStoreBuilder) -> UpstashStoreBuilder) -> Self {
        let redis = RedisServer::start();
        let gateway = Gateway::builder(redis.url()).token(TOKEN).read_only_token(READ_ONLY).build().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gateway =
            tokio::spawn(async move { gateway.serve(listener, std::future::pending()).await.unwrap() });
        let builder = UpstashStore::builder(Credentials::new(&format!("http://{address}"), TOKEN).unwrap());
        let store = set_up(builder.deadline(Duration::from_secs(30))).build().unwrap();
        Self { store, redis, address, gateway }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.gateway.abort();
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
