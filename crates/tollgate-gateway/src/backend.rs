//! The connections to Redis: one that all requests share, and a few for transactions.

use std::{fmt, time::Duration};

use parking_lot::Mutex;
#[cfg(feature = "tls")]
use redis::ConnectionAddr;
use redis::{
    Arg, AsyncConnectionConfig, Client, Cmd, ConnectionInfo, IntoConnectionInfo as _, Pipeline, RedisError,
    Value,
    aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection},
};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
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
    client: Client,
    reply_within: Duration,
    shared: Mutex<Shared>,
    idle: Mutex<Vec<MultiplexedConnection>>,
    turns: Semaphore,
    outage: Outage,
}

/// A connection for nobody else, and its place among those that there may be at once.
struct Own<'b> {
    connection: MultiplexedConnection,
    _turn: SemaphorePermit<'b>,
}

/// Made at its first use, and made anew when it is of no use any more.
struct Shared {
    manager: Option<ConnectionManager>,
    generation: u64,
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
        let info: ConnectionInfo = url.into_connection_info()?;
        #[cfg(feature = "tls")]
        if let ConnectionAddr::TcpTls { .. } = info.addr() {
            choose_provider();
        }
        Ok(Self {
            client: Client::open(info)?,
            reply_within,
            shared: Mutex::new(Shared { manager: None, generation: 0 }),
            idle: Mutex::new(Vec::new()),
            turns: Semaphore::new(MOST_OWN),
            outage: Outage::new(),
        })
    }

    /// Runs the commands one after another; others may run in between. There is a reply for each.
    pub(crate) async fn run(&self, commands: Vec<Cmd>) -> Result<Vec<Reply>, Unreachable> {
        let count = commands.len();
        if commands.iter().any(is_binary) {
            return self.run_apart(commands).await;
        }
        let pipeline = pipeline(commands);
        let (mut manager, generation) = self.shared()?;
        let result = manager.send_packed_commands(&pipeline, 0, count).await;
        if result.is_err() {
            // The manager does not connect anew when a server went mute, nor when it was refused while the server was
            // still loading; and after an outage it would fail one more request with what it found out during it.
            self.forget(generation);
        }
        let values = self.outage.note(result)?;
        Ok(values.into_iter().map(reply::from_value).collect())
    }

    /// Runs commands with words that are no text: Redis repeats some words in its errors, and an error that is no
    /// text breaks the connection it comes over.
    async fn run_apart(&self, commands: Vec<Cmd>) -> Result<Vec<Reply>, Unreachable> {
        let count = commands.len();
        let pipeline = pipeline(commands);
        let mut own = self.own().await?;
        let result = own.connection.send_packed_commands(&pipeline, 0, count).await;
        // A failure says nothing about whether Redis is there.
        let values = result.map_err(|error| match unreachable(&error) {
            Unreachable::Late => Unreachable::Late,
            Unreachable::Down | Unreachable::Garbled => Unreachable::Garbled,
        })?;
        self.keep(own.connection);
        Ok(values.into_iter().map(reply::from_value).collect())
    }

    /// Runs the commands without any other in between: `Ok(Err(text))` if none of them was run.
    pub(crate) async fn transact(
        &self,
        commands: Vec<Cmd>,
    ) -> Result<Result<Vec<Reply>, String>, Unreachable> {
        let count = commands.len() + 2;
        let framed = [redis::cmd("MULTI")].into_iter().chain(commands).chain([redis::cmd("EXEC")]);
        let pipeline = pipeline(framed);
        let mut own = self.own().await?;
        let result = own.connection.send_packed_commands(&pipeline, 0, count).await;
        let mut values = self.outage.note(result)?;
        // Only a connection that answered everything it was asked goes back.
        self.keep(own.connection);
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
            Ok(connection) => {
                self.keep(connection);
                Ok(Ok(()))
            }
            Err(error) if error.is_io_error() => Err(unreachable(&error)),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn shared(&self) -> Result<(ConnectionManager, u64), Unreachable> {
        let mut shared = self.shared.lock();
        let manager = match shared.manager.clone() {
            Some(manager) => manager,
            None => {
                // Nothing connects yet, so nothing waits under the lock.
                let manager =
                    ConnectionManager::new_lazy_with_config(self.client.clone(), self.manager_config());
                shared.manager.insert(manager.map_err(|error| unreachable(&error))?).clone()
            }
        };
        Ok((manager, shared.generation))
    }

    /// Lets the next request make a new connection, unless another has already seen to that.
    fn forget(&self, generation: u64) {
        let mut shared = self.shared.lock();
        if shared.generation == generation {
            *shared = Shared { manager: None, generation: generation + 1 };
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a bound on how long a request waits; no limit is decided by it"
    )]
    async fn own(&self) -> Result<Own<'_>, Unreachable> {
        // It is never closed, so only time can run out.
        let Ok(Ok(turn)) = tokio::time::timeout(self.reply_within, self.turns.acquire()).await else {
            return Err(Unreachable::Late);
        };
        Ok(Own { connection: self.idle_or_new().await?, _turn: turn })
    }

    async fn idle_or_new(&self) -> Result<MultiplexedConnection, Unreachable> {
        while let Some(mut connection) = self.take() {
            // It may have broken while nobody used it; a transaction could not be sent twice to find out.
            match redis::cmd("PING").exec_async(&mut connection).await {
                Ok(()) => return Ok(connection),
                // A server that is mute to one is mute to all.
                Err(error) if error.is_timeout() => {
                    self.idle.lock().clear();
                    return self.outage.note(Err(error));
                }
                Err(_) => {}
            }
        }
        self.outage.note(self.connect().await)
    }

    fn take(&self) -> Option<MultiplexedConnection> {
        self.idle.lock().pop()
    }

    fn keep(&self, connection: MultiplexedConnection) {
        let mut idle = self.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.push(connection);
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_WITHIN))
            .set_response_timeout(Some(self.reply_within));
        self.client.get_multiplexed_async_connection_with_config(&config).await
    }

    fn manager_config(&self) -> ConnectionManagerConfig {
        // A request that finds no server is told so at once; the next one tries again.
        ConnectionManagerConfig::new()
            .set_number_of_retries(1)
            .set_min_delay(Duration::from_millis(10))
            .set_max_delay(Duration::from_millis(200))
            .set_connection_timeout(Some(CONNECT_WITHIN))
            .set_response_timeout(Some(self.reply_within))
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

pub(crate) fn unreachable(error: &RedisError) -> Unreachable {
    if error.is_timeout() { Unreachable::Late } else { Unreachable::Down }
}

/// The client of Redis takes its cryptography from what the process has chosen, and panics if it has not.
#[cfg(feature = "tls")]
fn choose_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // It fails only if another thread was faster, which is as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

fn is_binary(command: &Cmd) -> bool {
    command.args_iter().any(|arg| match arg {
        Arg::Simple(word) => std::str::from_utf8(word).is_err(),
        _ => false,
    })
}

fn pipeline(commands: impl IntoIterator<Item = Cmd>) -> Pipeline {
    let mut pipeline = Pipeline::new();
    for command in commands {
        pipeline.add_command(command);
    }
    pipeline
}
