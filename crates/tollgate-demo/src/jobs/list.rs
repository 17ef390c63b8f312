//! A queue in a Redis, over its own protocol: a list.

use std::time::Duration;

use redis::{Client, Cmd, FromRedisValue, Pipeline, RedisError, aio::MultiplexedConnection};
use tokio::sync::Mutex;

use super::{JobsError, KEPT_SECONDS, KEY};

pub(crate) struct Queue {
    client: Client,
    /// Made when it is first needed, and again when it broke.
    connection: Mutex<Option<MultiplexedConnection>>,
}

/// How long an empty list is left alone.
const PAUSE: Duration = Duration::from_millis(200);

impl Queue {
    pub(super) fn new(url: &str) -> Result<Self, JobsError> {
        let client = Client::open(url).map_err(JobsError::new)?;
        Ok(Self { client, connection: Mutex::new(None) })
    }

    pub(super) async fn push(&self, text: &str) -> Result<(), JobsError> {
        let mut both = redis::pipe();
        both.atomic();
        both.cmd("LPUSH").arg(KEY).arg(text).ignore();
        both.cmd("EXPIRE").arg(KEY).arg(KEPT_SECONDS).ignore();
        self.ask(Asked::Both(both)).await
    }

    pub(super) async fn pop(&self) -> Result<Option<String>, JobsError> {
        let mut pop = redis::cmd("RPOP");
        pop.arg(KEY);
        self.ask(Asked::One(pop)).await
    }

    /// Nothing is sent twice: a job that may be in the list is not put there again.
    async fn ask<T: FromRedisValue>(&self, asked: Asked) -> Result<T, JobsError> {
        let mut kept = self.connection.lock().await;
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => self.client.get_multiplexed_async_connection().await.map_err(JobsError::new)?,
        };
        let answer: Result<T, RedisError> = match asked {
            Asked::One(command) => command.query_async(&mut connection).await,
            Asked::Both(commands) => commands.query_async(&mut connection).await,
        };
        // One that has failed is not kept.
        if answer.is_ok() {
            *kept = Some(connection);
        }
        answer.map_err(JobsError::new)
    }

    #[expect(clippy::disallowed_methods, reason = "when to look again is no decision of a limit")]
    pub(super) async fn wait() {
        tokio::time::sleep(PAUSE).await;
    }
}

enum Asked {
    One(Cmd),
    Both(Pipeline),
}

/// Without the address, which may hold a password.
impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}
