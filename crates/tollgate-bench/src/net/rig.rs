//! The servers of one run, and what every side takes.

use std::{
    net::SocketAddr,
    thread::{self, JoinHandle},
    time::Duration,
};

use redis::aio::MultiplexedConnection;
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    sync::oneshot,
};
use tollgate_core::{Limit, Timestamp, Window};
use tollgate_gateway::Gateway;
use tollgate_script::{Call, Prefix, Replay, take_call};
use tollgate_store::{Charge, Key, KeyParts, MOST_CHARGES, Name, Store, Take};
use tollgate_testbed::RedisServer;
use tollgate_upstash::{Credentials, UpstashStore};

use crate::net::Failure;

/// A Redis, a gateway in front of it, and a thread for those who call them.
pub(crate) struct Rig {
    pub(crate) callers: Runtime,
    pub(crate) redis: RedisServer,
    pub(crate) gateway: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

pub(crate) const TOKEN: &str = "a-token-of-this-run";

/// A quota that nobody reaches.
const LIMIT: Limit = Limit::sliding(1 << 50, Window::DAY);

/// Longer than the slowest call of a crowd of callers: what is measured is calls that succeed.
const DEADLINE: Duration = Duration::from_secs(10);

impl Rig {
    pub(crate) fn start() -> Result<Self, Failure> {
        let redis = RedisServer::start();
        let gateway = Gateway::builder(redis.url()).token(TOKEN).build()?;
        let callers = one_thread()?;
        let listener = callers.block_on(TcpListener::bind("127.0.0.1:0"))?.into_std()?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = one_thread()?;
        let serving = thread::spawn(move || {
            // Nobody could be told if it fails but the callers, whose calls fail then.
            let _ = runtime.block_on(runtime.spawn(async move {
                if let Ok(listener) = TcpListener::from_std(listener) {
                    let _ = gateway.serve(listener, async { drop(stopped.await) }).await;
                }
            }));
        });
        Ok(Self { callers, redis, gateway: address, stop: Some(stop), serving: Some(serving) })
    }

    /// A store over REST at this address: the gateway's, or what stands in front of it.
    pub(crate) fn rest(&self, address: SocketAddr, batching: bool) -> Result<UpstashStore, Failure> {
        let credentials = Credentials::new(&format!("http://{address}"), TOKEN)?;
        Ok(UpstashStore::builder(credentials).batching(batching).deadline(DEADLINE).build()?)
    }

    /// The connection that the redis crate gives whoever asks for one.
    pub(crate) fn raw(&self) -> Result<MultiplexedConnection, Failure> {
        let client = redis::Client::open(self.redis.url())?;
        Ok(self.callers.block_on(client.get_multiplexed_async_connection())?)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            // It has ended; how does not matter any more.
            let _ = serving.join();
        }
    }
}

fn one_thread() -> Result<Runtime, Failure> {
    Ok(Builder::new_multi_thread().worker_threads(1).enable_all().build()?)
}

/// Has a store take one unit for this caller.
pub(crate) async fn take(store: &impl Store, caller: usize, now: Timestamp) -> Result<(), Failure> {
    let parts = (caller as u64).into_parts();
    let charges = [charge(&parts)];
    let decisions = store.take(Take { charges: &charges, now }).await?;
    if decisions.is_admitted() { Ok(()) } else { Err("a limit that nobody reaches was reached".into()) }
}

/// The same as a call of the script, ready to be sent.
pub(crate) fn take_script(caller: usize, charges: usize, replay: Option<Replay>) -> Result<Call, Failure> {
    let parts: [_; MOST_CHARGES] =
        std::array::from_fn(|at| ((caller * MOST_CHARGES + at) as u64).into_parts());
    let charges: Vec<_> = parts[..charges].iter().map(|parts| charge(parts)).collect();
    Ok(take_call(&Prefix::default(), &Take { charges: &charges, now: now() }, replay)?)
}

fn charge<'a>(parts: &'a [tollgate_store::Part<'a>; 1]) -> Charge<'a> {
    Charge::new(Key::new(Name::new("bench"), parts), LIMIT)
}

/// The time of all takes of a run: a script's cost must not depend on when a window ends.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix_ms(1_790_000_000_000)
}
