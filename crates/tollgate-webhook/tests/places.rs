//! Where claims are kept: in memory, on a real Redis, and through a gateway in front of one.

use std::{sync::Arc, time::Duration};

use tollgate_memory::MemoryStore;
use tollgate_redis::RedisStore;
use tollgate_store::Claims;
use tollgate_testbed::{RedisServer, RestApi, TOKEN};
use tollgate_upstash::{Credentials, UpstashStore};

/// A store of claims, with whatever keeps it alive.
pub(crate) struct Place {
    pub(crate) claims: Arc<dyn Claims>,
    /// Before the server, which it asks.
    _gateway: Option<RestApi>,
    pub(crate) server: Option<RedisServer>,
}

/// Time enough for whatever machine runs the tests.
const DEADLINE: Duration = Duration::from_secs(20);

impl Place {
    pub(crate) fn memory() -> Self {
        Self { claims: Arc::new(MemoryStore::new()), _gateway: None, server: None }
    }

    pub(crate) fn redis() -> Self {
        let server = RedisServer::start();
        let store = RedisStore::builder(&server.url()).deadline(DEADLINE).build().unwrap();
        Self { claims: Arc::new(store), _gateway: None, server: Some(server) }
    }

    pub(crate) fn upstash() -> Self {
        let server = RedisServer::start();
        let gateway = RestApi::start(&server);
        let credentials = Credentials::new(&gateway.url(), TOKEN).unwrap();
        let store = UpstashStore::builder(credentials).deadline(DEADLINE).build().unwrap();
        Self { claims: Arc::new(store), _gateway: Some(gateway), server: Some(server) }
    }
}

/// Makes a test of each function on each store.
macro_rules! on_every_store {
    ($($case:ident)*) => {
        mod memory {
            $(#[tokio::test] async fn $case() { super::$case($crate::places::Place::memory()).await; })*
        }
        mod redis {
            $(#[tokio::test] async fn $case() { super::$case($crate::places::Place::redis()).await; })*
        }
        mod upstash {
            $(#[tokio::test] async fn $case() { super::$case($crate::places::Place::upstash()).await; })*
        }
    };
}
pub(crate) use on_every_store;
