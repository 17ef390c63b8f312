//! A gateway of a test's own.

use std::{
    net::SocketAddr,
    sync::mpsc,
    thread::{self, JoinHandle},
};

use tokio::{net::TcpListener, sync::oneshot};
use tollgate_gateway::Gateway;

use crate::{Log, RedisServer};

/// What the gateway's clients prove themselves with.
pub const TOKEN: &str = "AXdkS3CRETkxMjM0NTY3ODk=";

/// What those prove themselves with that may only read.
pub const READ_ONLY_TOKEN: &str = "only-to-read";

/// A gateway in front of a Redis, on a free port of the loopback. It has a thread of its own, as it would have a process.
#[derive(Debug)]
pub struct RestApi {
    gateway: Gateway,
    address: SocketAddr,
    log: Log,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RestApi {
    /// Starts one.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn start(redis: &RedisServer) -> Self {
        let gateway = Gateway::builder(redis.url()).token(TOKEN).read_only_token(READ_ONLY_TOKEN).build();
        let gateway = gateway.expect("these are tokens and a URL");
        let log = Log::default();
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let (serving, dispatch) = (gateway.clone(), log.dispatch());
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let _logged = tracing::dispatcher::set_default(&dispatch);
            runtime.expect("a test needs a runtime").block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a test needs a free port");
                let address = listener.local_addr().expect("a bound port is known");
                tell.send(address).expect("the test waits for it");
                // Requests that have begun end with it: whoever sent them is gone.
                tokio::select! {
                    served = serving.serve(listener, std::future::pending()) => served.expect("it listens on the loopback"),
                    _ = stopped => {}
                }
            });
        });
        let address = told.recv().expect("the gateway starts");
        Self { gateway, address, log, stop: Some(stop), thread: Some(thread) }
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many connections it has accepted.
    #[must_use]
    pub fn connections_accepted(&self) -> u64 {
        self.gateway.connections_accepted()
    }

    /// What it logs.
    #[must_use]
    pub const fn log(&self) -> &Log {
        &self.log
    }
}

impl Drop for RestApi {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()) || thread::panicking(), "the gateway panicked");
    }
}
