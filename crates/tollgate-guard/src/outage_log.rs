//! An outage is logged at its beginning and at its end, not for each request in between.

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_core::Timestamp;
use tollgate_store::{StoreError, StoreErrorKind};

/// How long a store has to answer without a failure before an outage counts as over, so that one which fails every other call
/// does not write two lines a request.
const QUIET_MS: u64 = 1_000;

/// No failure yet, or none since the last outage ended.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct OutageLog {
    failed_at: AtomicU64,
    misused_at: AtomicU64,
    failures: AtomicU64,
}

impl OutageLog {
    pub(crate) const fn new() -> Self {
        Self {
            failed_at: AtomicU64::new(NEVER),
            misused_at: AtomicU64::new(NEVER),
            failures: AtomicU64::new(0),
        }
    }

    #[cold]
    pub(crate) fn failed(&self, error: &StoreError, now: Timestamp) {
        if error.kind() == StoreErrorKind::Misuse {
            self.misused(error, now);
            return;
        }
        self.failures.fetch_add(1, Ordering::Relaxed);
        if self.failed_at.swap(now.unix_ms(), Ordering::Relaxed) == NEVER {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "store outage begins: each policy does what it says for one"
            );
        }
    }

    #[inline]
    pub(crate) fn answered(&self, now: Timestamp) {
        let failed_at = self.failed_at.load(Ordering::Relaxed);
        if failed_at != NEVER {
            self.answered_after(failed_at, now);
        }
    }

    #[cold]
    fn answered_after(&self, failed_at: u64, now: Timestamp) {
        let is_over = now.unix_ms() >= failed_at.saturating_add(QUIET_MS)
            && self
                .failed_at
                .compare_exchange(failed_at, NEVER, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if is_over {
            let failures = self.failures.swap(0, Ordering::Relaxed);
            tracing::info!(failures, "store outage over");
        }
    }

    /// A fault of the program that shows with every request would flood the log: at most one line a second.
    fn misused(&self, error: &StoreError, now: Timestamp) {
        let before = self.misused_at.load(Ordering::Relaxed);
        let is_due = before == NEVER || now.unix_ms() >= before.saturating_add(QUIET_MS);
        if is_due
            && self
                .misused_at
                .compare_exchange(before, now.unix_ms(), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            tracing::error!(error = error as &dyn std::error::Error, "a check is wrong and is refused");
        }
    }
}
