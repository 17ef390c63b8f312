//! One open connection.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{AsyncConnectionConfig, Cmd, RedisError, Value, aio::MultiplexedConnection};
use tokio::{
    task::AbortHandle,
    time::{Instant, timeout_at},
};

use crate::address::Address;

/// A connection that many calls share.
pub(crate) struct Live {
    connection: MultiplexedConnection,
    health: Arc<Health>,
    _driver: Driver,
}

/// How a call on a connection can end without an answer.
pub(crate) enum Lost {
    /// Not by the deadline.
    Late,
    /// The connection broke, or what came was not the protocol.
    Broken(RedisError),
}

impl Live {
    /// Opens a connection and logs in.
    pub(crate) async fn open(address: &Address, silence: Duration) -> Result<Self, RedisError> {
        let stream = address.open(silence).await?;
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_pipeline_buffer_size(QUEUE)
            .set_write_backpressure_boundary(WRITES);
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&address.login, stream, config).await?;
        let health = Arc::new(Health::default());
        let watched = Ended(Arc::clone(&health));
        let driver = tokio::spawn(async move {
            let _watched = watched;
            driver.await;
        });
        Ok(Self { connection, health, _driver: Driver(driver.abort_handle()) })
    }

    /// Whether it can still be used, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.health.ended.load(Ordering::Acquire)
    }

    /// Has nobody use it from now on. Calls that wait for an answer go on waiting.
    pub(crate) fn drop_it(&self) {
        self.health.ended.store(true, Ordering::Release);
    }

    /// Sends a command and waits for its answer until the deadline.
    #[expect(clippy::disallowed_methods, reason = "a transport owns the deadline of its calls")]
    pub(crate) async fn send(&self, command: &Cmd, until: Instant) -> Result<Value, Lost> {
        let heard = self.health.heard.load(Ordering::Relaxed);
        let mut connection = self.connection.clone();
        match timeout_at(until, connection.send_packed_command(command)).await {
            Ok(Ok(value)) => {
                self.health.heard.fetch_add(1, Ordering::Relaxed);
                Ok(value)
            }
            Ok(Err(error)) => {
                self.drop_it();
                Err(Lost::Broken(error))
            }
            Err(_elapsed) => {
                // Not a sound for a whole call: the peer may be gone, and only a new connection would tell.
                if self.health.heard.load(Ordering::Relaxed) == heard {
                    self.drop_it();
                }
                Err(Lost::Late)
            }
        }
    }
}

/// How many calls may wait to be written before the next one waits to be queued.
const QUEUE: usize = 1_024;
/// How many bytes are gathered for one write.
const WRITES: usize = 64 * 1024;

#[derive(Debug, Default)]
struct Health {
    ended: AtomicBool,
    /// How many answers have come.
    heard: AtomicU64,
}

/// Notes that the driver has ended: on its own, or with the runtime it ran on.
struct Ended(Arc<Health>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

/// Ends the driver with the last user of its connection.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("health", &self.health).finish_non_exhaustive()
    }
}
