//! Where budgets are counted, and what can happen to that.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::{net::TcpListener, task::JoinHandle};
use tollgate::{
    Decisions, Forget, Guard, Limit, ManualClock, MemoryStore, OnOutage, Outcome, Policy, Reservation,
    Settle, Store, StoreError, StoreErrorKind, Take, Window,
};
use tollgate_gateway::Gateway;
use tollgate_redis::RedisStore;
use tollgate_testbed::RedisServer;
use tollgate_upstash::{Credentials, UpstashStore};

/// Noon, so that a minute, an hour and a day have begun.
pub(crate) const NOON: u64 = 1_764_504_000_000;
const TOKEN: &str = "AXdkS3CRETkxMjM0NTY3ODk=";
/// Time enough for whatever machine runs the tests.
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) const CHATS: Policy<0> = Policy::new("chats", Limit::fixed(1_000, Window::DAY), OnOutage::Deny);
pub(crate) const TOKENS: Policy<1> = Policy::new("tokens", Limit::fixed(10_000, Window::DAY), OnOutage::Deny);
pub(crate) const SLIDING: Policy<0> =
    Policy::new("sliding", Limit::sliding(10_000, Window::DAY), OnOutage::Deny);
pub(crate) const BUCKET: Policy<0> =
    Policy::new("bucket", Limit::bucket(10_000, 1, Window::DAY), OnOutage::Deny);
pub(crate) const FAST: Policy<0> =
    Policy::new("fast", Limit::bucket(1_000, 100, Window::SECOND), OnOutage::Deny);
pub(crate) const BURST: Policy<0> = Policy::new("burst", Limit::fixed(100, Window::MINUTE), OnOutage::Deny);
pub(crate) const MONEY: Policy<0> =
    Policy::new("money", Limit::fixed(100_000_000, Window::DAY), OnOutage::Deny);
pub(crate) const OPEN: Policy<0> = Policy::new("open", Limit::fixed(10_000, Window::DAY), OnOutage::Allow);

/// A guard over a store, with whatever keeps that store alive.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) guard: Arc<Guard<Arc<Switch>>>,
    pub(crate) store: Arc<Switch>,
    pub(crate) clock: ManualClock,
    spawned: Arc<Mutex<Vec<JoinHandle<()>>>>,
    server: Option<RedisServer>,
    gateway: Option<JoinHandle<()>>,
}

impl Place {
    pub(crate) fn memory() -> Self {
        Self::on(Arc::new(MemoryStore::new()), None, None)
    }

    pub(crate) fn redis() -> Self {
        let server = RedisServer::start();
        let store = RedisStore::builder(&server.url()).deadline(DEADLINE).build().unwrap();
        Self::on(Arc::new(store), Some(server), None)
    }

    pub(crate) async fn upstash() -> Self {
        let server = RedisServer::start();
        let gateway = Gateway::builder(server.url()).token(TOKEN).build().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let credentials =
            Credentials::new(&format!("http://{}", listener.local_addr().unwrap()), TOKEN).unwrap();
        let gateway =
            tokio::spawn(async move { gateway.serve(listener, std::future::pending()).await.unwrap() });
        let store = UpstashStore::builder(credentials).deadline(DEADLINE).build().unwrap();
        Self::on(Arc::new(store), Some(server), Some(gateway))
    }

    fn on(store: Arc<dyn Store>, server: Option<RedisServer>, gateway: Option<JoinHandle<()>>) -> Self {
        let store = Arc::new(Switch { inner: store, state: AtomicU8::new(WORKS) });
        let clock = ManualClock::at_unix_ms(NOON);
        let spawned: Arc<Mutex<Vec<JoinHandle<()>>>> = Arc::default();
        let spawns = Arc::clone(&spawned);
        let runtime = tokio::runtime::Handle::current();
        let guard = Guard::builder(Arc::clone(&store))
            .policies([CHATS, SLIDING, BUCKET, FAST, BURST, MONEY, OPEN])
            .policy(TOKENS)
            .clock(clock.clone())
            .spawner(move |task| spawns.lock().unwrap().push(runtime.spawn(task)))
            .build()
            .unwrap();
        Self { guard: Arc::new(guard), store, clock, spawned, server, gateway }
    }

    /// Waits for all that was left to settle.
    pub(crate) async fn settle_all(&self) {
        loop {
            let Some(task) = self.spawned.lock().unwrap().pop() else { return };
            task.await.unwrap();
        }
    }

    /// Makes it as a store that has gone for good.
    pub(crate) fn kill(&mut self) {
        self.server.as_mut().unwrap().kill();
    }

    /// Every key that was written will go by itself.
    pub(crate) fn check_lifetimes(&self) {
        let server = self.server.as_ref().unwrap();
        for key in server.keys() {
            let lifetime = format!("{:?}", server.run(&["PTTL", &key]));
            assert!(!lifetime.contains('-'), "{key} has the lifetime {lifetime}");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(gateway) = &self.gateway {
            gateway.abort();
        }
    }
}

pub(crate) fn allowed(outcome: Outcome<Reservation>) -> Reservation {
    let Outcome::Allow(reservation) = outcome else { panic!("{outcome:?}") };
    reservation
}

const WORKS: u8 = 0;
const IS_GONE: u8 = 1;
const LOSES_ANSWERS: u8 = 2;

/// A store that can be cut off, or whose answers to settlements can be lost.
#[derive(Debug)]
pub(crate) struct Switch {
    inner: Arc<dyn Store>,
    state: AtomicU8,
}

impl Switch {
    pub(crate) fn work(&self) {
        self.state.store(WORKS, Ordering::SeqCst);
    }

    pub(crate) fn be_gone(&self) {
        self.state.store(IS_GONE, Ordering::SeqCst);
    }

    pub(crate) fn lose_answers(&self) {
        self.state.store(LOSES_ANSWERS, Ordering::SeqCst);
    }

    fn check(&self, state: u8) -> Result<(), StoreError> {
        if self.state.load(Ordering::SeqCst) == state {
            return Err(StoreError::new(StoreErrorKind::Unreachable, "the test has cut it off"));
        }
        Ok(())
    }
}

#[async_trait]
impl Store for Switch {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        match self.check(IS_GONE) {
            Ok(()) => self.inner.take_now(take),
            Err(error) => Some(Err(error)),
        }
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.check(IS_GONE)?;
        self.inner.take(take).await
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        self.check(IS_GONE)?;
        self.inner.settle(settle).await?;
        self.check(LOSES_ANSWERS)
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.check(IS_GONE)?;
        self.inner.forget(forget).await
    }
}
