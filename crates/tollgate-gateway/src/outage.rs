//! The beginning and the end of an outage, once each in the log.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use redis::RedisError;
use tokio::time::Instant;

use crate::backend::{Unreachable, unreachable};

/// How long nothing must fail until an outage is over: replies and failures of one broken connection come in no
/// order.
const QUIET: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Outage {
    is_on: AtomicBool,
    failed_at: Mutex<Option<Instant>>,
}

impl Outage {
    pub(crate) fn new() -> Self {
        Self { is_on: AtomicBool::new(false), failed_at: Mutex::new(None) }
    }

    /// Takes note of what came of asking Redis.
    pub(crate) fn note<T>(&self, result: Result<T, RedisError>) -> Result<T, Unreachable> {
        match result {
            Ok(value) => {
                if self.is_on.load(Ordering::Relaxed) {
                    self.note_success();
                }
                Ok(value)
            }
            Err(error) => {
                *self.failed_at.lock() = Some(Instant::now());
                if !self.is_on.swap(true, Ordering::Relaxed) {
                    tracing::warn!(kind = ?error.kind(), "Redis outage begins: {error}");
                }
                Err(unreachable(&error))
            }
        }
    }

    fn note_success(&self) {
        let is_quiet = self.failed_at.lock().is_none_or(|failed_at| failed_at.elapsed() >= QUIET);
        if is_quiet && self.is_on.swap(false, Ordering::Relaxed) {
            tracing::info!("Redis outage is over");
        }
    }
}
