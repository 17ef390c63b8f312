//! The connections to Redis: one that all requests share, and a few for transactions.

use std::{fmt, io, sync::Arc, time::Duration};

use parking_lot::Mutex;
use redis::{AsyncConnectionConfig, Cmd, Pipeline, RedisError, RedisResult, Value};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::Instant,
};

use crate::{
    address::Address,
    live::Live,
    outage::Outage,
    reply::{self, Reply},
};

/// How long a connection may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// How many requests have a connection of their own at once; the next one waits. Redis lets only so many clients in, and is not
/// there for the gateway alone.
const MOST_OWN: usize = 32;

/// How many idle connections for transactions are kept.
const MOST_IDLE: usize = 8;

/// A Redis, reached again by itself after it was gone.
pub(crate) struct Backend {
    address: Address,
    reply_within: Duration,
    shared: Mutex<Option<Arc<Live>>>,
    /// Whoever has the lock connects; within is what became of that last, if it failed, and when.
    connecting: tokio::sync::Mutex<Option<(Instant, RedisError)>>,
    idle: Mutex<Vec<Live>>,
    turns: Semaphore,
    outage: Outage,
}

/// A connection for nobody else, and its place among those that there may be at once.
struct Own<'b> {
    live: Live,
    _turn: SemaphorePermit<'b>,
}

/// Redis cannot be reached, or does not answer. Whether the commands ran is not known.
#[derive(Debug)]
pub(crate) enum Unreachable {
    /// There is no connection, or it broke.
    Down,
    /// There was no reply in time.
    Late,
    /// There was no reply that makes sense.
    Garbled,
}

impl Backend {
    pub(crate) fn open(url: &str, reply_within: Duration) -> Result<Self, RedisError> {
        Ok(Self {
            address: Address::parse(url)?,
            reply_within,
            shared: Mutex::new(None),
            connecting: tokio::sync::Mutex::default(),
            idle: Mutex::new(Vec::new()),
            turns: Semaphore::new(MOST_OWN),
            outage: Outage::new(),
        })
    }

    /// Runs the commands one after another; others may run in between. There is a reply for each.
    pub(crate) async fn run(&self, commands: Vec<Cmd>) -> Result<Vec<Reply>, Unreachable> {
        let count = commands.len();
        let pipeline = pipeline(commands);
        let values = self.on_shared(async |live| live.send(&pipeline, count).await).await?;
        Ok(values.into_iter().map(reply::from_value).collect())
    }

    /// Runs one command, without what it costs to keep several apart.
    pub(crate) async fn run_one(&self, command: &Cmd) -> Result<Reply, Unreachable> {
        self.on_shared(async |live| live.send_one(command).await).await.map(reply::from_value)
    }

    /// Has something done on the connection that all share.
    async fn on_shared<T>(&self, send: impl AsyncFnOnce(&Live) -> RedisResult<T>) -> Result<T, Unreachable> {
        let result = match self.shared().await {
            Ok(live) => {
                let result = send(&live).await;
                if result.is_err() {
                    // A server that went mute may answer a new connection, and so may another in its place.
                    live.drop_it();
                }
                result
            }
            Err(error) => Err(error),
        };
        self.outage.note(result)
    }

    /// Runs the commands without any other in between: `Ok(Err(text))` if none of them was run.
    pub(crate) async fn transact(
        &self,
        commands: Vec<Cmd>,
    ) -> Result<Result<Vec<Reply>, String>, Unreachable> {
        let count = commands.len() + 2;
        let framed = [redis::cmd("MULTI")].into_iter().chain(commands).chain([redis::cmd("EXEC")]);
        let pipeline = pipeline(framed);
        let own = match self.own().await? {
            Ok(own) => own,
            Err(text) => return Ok(Err(text)),
        };
        let result = own.live.send(&pipeline, count).await;
        let mut values = self.outage.note(result)?;
        // Only a connection that answered everything it was asked goes back.
        self.keep(own.live);
        let executed = values.pop();
        let refused = values.into_iter().find_map(|value| reply::from_value(value).err());
        Ok(match (refused, executed) {
            (Some(text), _) => Err(text),
            (None, Some(Value::Array(values))) => Ok(values.into_iter().map(reply::from_value).collect()),
            (None, Some(Value::ServerError(error))) => Err(reply::error_text(&error)),
            (None, _) => return Err(Unreachable::Garbled),
        })
    }

    /// Asks for a sign of life: `Err` with the server's words if it answers but lets nobody in.
    pub(crate) async fn greet(&self) -> Result<Result<(), String>, Unreachable> {
        match self.connect().await {
            Ok(live) => {
                self.keep(live);
                Ok(Ok(()))
            }
            Err(error) if error.is_io_error() => Err(unreachable(&error)),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// The connection that all share, made if there is none.
    async fn shared(&self) -> RedisResult<Arc<Live>> {
        let asked_at = Instant::now();
        if let Some(live) = self.open_shared() {
            return Ok(live);
        }
        let mut failed = self.connecting.lock().await;
        if let Some(live) = self.open_shared() {
            return Ok(live);
        }
        // What another found out while this request waited holds for it too. What was found out before does not.
        match &*failed {
            Some((at, error)) if *at >= asked_at => return Err(error.clone()),
            _ => {}
        }
        // Connecting is rare, and its state is large: in memory of its own it is not carried about by every request.
        match Box::pin(self.connect()).await {
            Ok(live) => {
                let live = Arc::new(live);
                *self.shared.lock() = Some(Arc::clone(&live));
                Ok(live)
            }
            Err(error) => {
                *failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    fn open_shared(&self) -> Option<Arc<Live>> {
        self.shared.lock().as_ref().filter(|live| live.is_open()).cloned()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a bound on how long a request waits; no limit is decided by it"
    )]
    async fn own(&self) -> Result<Result<Own<'_>, String>, Unreachable> {
        // It is never closed, so only time can run out.
        let Ok(Ok(turn)) = tokio::time::timeout(self.reply_within, self.turns.acquire()).await else {
            return Err(Unreachable::Late);
        };
        Ok(self.idle_or_new().await?.map(|live| Own { live, _turn: turn }))
    }

    /// A connection on which a transaction has just been begun and given up. It may have broken, and a transaction could not be
    /// sent twice to find out; and where the user may not begin one, the commands of a transaction would run one by one.
    async fn idle_or_new(&self) -> Result<Result<Live, String>, Unreachable> {
        while let Some(live) = self.take() {
            match begins_transactions(&live).await {
                Ok(begins) => return Ok(begins.map(|()| live)),
                // A server that is mute to one is mute to all.
                Err(error) if error.is_timeout() => {
                    self.idle.lock().clear();
                    return self.outage.note(Err(error));
                }
                Err(_) => {}
            }
        }
        let live = self.outage.note(self.connect().await)?;
        let begins = self.outage.note(begins_transactions(&live).await)?;
        Ok(begins.map(|()| live))
    }

    fn take(&self) -> Option<Live> {
        let mut idle = self.idle.lock();
        idle.retain(Live::is_open);
        idle.pop()
    }

    fn keep(&self, live: Live) {
        let mut idle = self.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.push(live);
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a bound on how long a request waits; no limit is decided by it"
    )]
    async fn connect(&self) -> RedisResult<Live> {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(self.reply_within));
        match tokio::time::timeout(CONNECT_WITHIN, Live::open(&self.address, config)).await {
            Ok(opened) => opened,
            Err(_elapsed) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
        }
    }
}

impl fmt::Debug for Backend {
    /// Without the address, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend").field("reply_within", &self.reply_within).finish_non_exhaustive()
    }
}

impl Unreachable {
    pub(crate) fn text(&self) -> &'static str {
        match self {
            Self::Down => "ERR Redis cannot be reached",
            Self::Late => "ERR Redis does not answer in time",
            Self::Garbled => "ERR Redis gives no answer that can be read",
        }
    }
}

/// Begins a transaction and gives it up. The server's words if it lets this user begin none.
async fn begins_transactions(live: &Live) -> RedisResult<Result<(), String>> {
    let begun = live.send(&pipeline(["MULTI", "DISCARD"].map(redis::cmd)), 2).await?;
    let refused = begun.into_iter().find_map(|value| reply::from_value(value).err());
    Ok(refused.map_or(Ok(()), Err))
}

pub(crate) fn unreachable(error: &RedisError) -> Unreachable {
    if error.is_timeout() { Unreachable::Late } else { Unreachable::Down }
}

fn pipeline(commands: impl IntoIterator<Item = Cmd>) -> Pipeline {
    let mut pipeline = Pipeline::new();
    for command in commands {
        pipeline.add_command(command);
    }
    pipeline
}

#[cfg(test)]
mod tests {
    use tollgate_testbed::RedisServer;

    use super::*;

    /// As Redis does by itself with its `timeout`.
    #[tokio::test]
    async fn what_redis_closes_while_nobody_uses_it_costs_nobody_an_error() {
        let redis = RedisServer::start();
        let backend = Backend::open(&redis.url(), Duration::from_secs(30)).unwrap();
        let incr = || vec![redis::cmd("INCR").arg("n").clone()];
        for count in 1..=20 {
            assert_eq!(backend.run(incr()).await.unwrap(), [Ok(Value::Int(count * 2 - 1))]);
            assert_eq!(backend.transact(incr()).await.unwrap(), Ok(vec![Ok(Value::Int(count * 2))]));
            redis.run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
            let start = Instant::now();
            while backend.open_shared().is_some() {
                assert!(start.elapsed() < Duration::from_secs(30), "it is not noticed");
                tokio::task::yield_now().await;
            }
        }
    }
}
