//! One open connection to Redis.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use redis::{AsyncConnectionConfig, Cmd, Pipeline, RedisResult, Value, aio::MultiplexedConnection};
use tokio::task::AbortHandle;

use crate::{address::Address, lossy::Lossy};

/// A connection, of which it is known when it has ended: what Redis closes while nobody uses it costs nobody an error.
pub(crate) struct Live {
    connection: MultiplexedConnection,
    has_ended: Arc<AtomicBool>,
    _driver: Driver,
}

impl Live {
    /// Opens a connection and logs in.
    pub(crate) async fn open(address: &Address, config: AsyncConnectionConfig) -> RedisResult<Self> {
        let stream = Lossy::new(address.open().await?);
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&address.login, stream, config).await?;
        let has_ended = Arc::new(AtomicBool::new(false));
        let watched = Ended(Arc::clone(&has_ended));
        let driver = tokio::spawn(async move {
            let _watched = watched;
            driver.await;
        });
        Ok(Self { connection, has_ended, _driver: Driver(driver.abort_handle()) })
    }

    /// Whether it can still be used, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.has_ended.load(Ordering::Acquire)
    }

    /// Has nobody use it from now on. Requests that wait for an answer go on waiting.
    pub(crate) fn drop_it(&self) {
        self.has_ended.store(true, Ordering::Release);
    }

    /// Sends one command and waits for its answer, a value or an error in place of one.
    pub(crate) async fn send_one(&self, command: &Cmd) -> RedisResult<Value> {
        self.connection.clone().send_packed_command(command).await
    }

    /// Sends commands and waits for their answers, each a value or an error in place of one.
    pub(crate) async fn send(&self, commands: &Pipeline, count: usize) -> RedisResult<Vec<Value>> {
        let mut connection = self.connection.clone();
        connection.send_packed_commands(commands, 0, count).await
    }
}

/// Notes that the driver has ended: on its own, or with the runtime it ran on.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Ends the driver with the last user of its connection.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}
