//! How many checks came out which way.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{OutageReason, Outcome};

/// How many checks came out which way since the guard was built. Not counted are peeks, and checks of which
/// [`Guard::try_check`](crate::Guard::try_check) returned an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Went ahead, decided by the store.
    pub allowed: u64,
    /// Refused by a limit.
    pub refused: u64,
    /// Went ahead while the store was gone.
    pub let_through: u64,
    /// Refused because the store was gone.
    pub stopped: u64,
    /// Refused because the check itself was wrong.
    pub misused: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    allowed: AtomicU64,
    refused: AtomicU64,
    let_through: AtomicU64,
    stopped: AtomicU64,
    misused: AtomicU64,
}

impl Tally {
    #[inline]
    pub(crate) fn count(&self, outcome: &Outcome) {
        let counter = match outcome {
            Outcome::Allow(pass) if pass.outage.is_some() => &self.let_through,
            Outcome::Allow(_) => &self.allowed,
            Outcome::Deny(_) => &self.refused,
            Outcome::Unavailable(outage) if outage.reason == OutageReason::Misuse => &self.misused,
            Outcome::Unavailable(_) => &self.stopped,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            allowed: read(&self.allowed),
            refused: read(&self.refused),
            let_through: read(&self.let_through),
            stopped: read(&self.stopped),
            misused: read(&self.misused),
        }
    }
}
