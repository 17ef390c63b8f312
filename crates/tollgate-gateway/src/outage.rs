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
                // Nobody asks for the time while all is well.
                if self.is_on.load(Ordering::Relaxed) && self.ends(Instant::now()) {
                    tracing::info!("Redis outage is over");
                }
                Ok(value)
            }
            Err(error) => {
                if self.begins(Instant::now()) {
                    tracing::warn!(kind = ?error.kind(), "Redis outage begins: {error}");
                }
                Err(unreachable(&error))
            }
        }
    }

    /// Whether this failure is the first one.
    fn begins(&self, now: Instant) -> bool {
        *self.failed_at.lock() = Some(now);
        !self.is_on.swap(true, Ordering::Relaxed)
    }

    /// Whether this success is the first one after the last failure, and the quiet after that.
    fn ends(&self, now: Instant) -> bool {
        let is_quiet = self.failed_at.lock().is_none_or(|failed_at| now.duration_since(failed_at) >= QUIET);
        is_quiet && self.is_on.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_of_an_outage_is_said_once() {
        let (outage, start) = (Outage::new(), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        assert!(!outage.ends(after(0)), "there is none yet");
        assert!(outage.begins(after(10)));
        assert!(!outage.begins(after(20)));
        // A late reply of the connection that broke, and another failure.
        assert!(!outage.ends(after(30)));
        assert!(!outage.begins(after(500)));
        assert!(!outage.ends(after(1_499)));
        assert!(outage.ends(after(1_500)));
        assert!(!outage.ends(after(1_501)));
        assert!(outage.begins(after(1_600)), "another one");
    }
}
