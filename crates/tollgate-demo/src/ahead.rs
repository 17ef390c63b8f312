//! A clock that is ahead of the system's.

use std::time::Duration;

use tollgate_guard::{Clock, SystemClock, Timestamp};

/// The system's clock, ahead by so much: to see how a day ends without waiting for it, and for whoever must not see one end.
#[derive(Clone, Copy, Debug)]
pub struct Ahead(Duration);

impl Ahead {
    /// By so much.
    #[must_use]
    pub const fn by(ahead: Duration) -> Self {
        Self(ahead)
    }
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().saturating_add(self.0)
    }
}
