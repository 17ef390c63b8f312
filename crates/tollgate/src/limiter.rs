//! A limiter in memory, in one line.

use std::{fmt, sync::Arc};

use tollgate_core::{Limit, LimitError, Window, WindowError};
use tollgate_guard::{Clock, Limiter, LimiterError, OnOutage, OwnedPolicy};
use tollgate_memory::MemoryStore;

/// A limiter that counts in this process: `limit` requests of a key in a sliding window of `window_ms` milliseconds.
///
/// Holds at most 10,000 keys, and its answers are those of [`Limiter::limit`].
///
/// ```
/// use tollgate::{SystemClock, memory_limiter};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let limiter = memory_limiter(1, 60_000, SystemClock)?;
/// assert!(limiter.limit("203.0.113.7").await.success);
/// assert!(!limiter.limit("203.0.113.7").await.success);
/// # Ok::<(), tollgate::MemoryLimiterError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Only if `limit` is above 2^53 − 1, or `window_ms` is 0 or above 2^40.
pub fn memory_limiter(limit: u64, window_ms: u64, clock: impl Clock) -> Result<Limiter, MemoryLimiterError> {
    let window = Window::try_from_ms(window_ms).map_err(MemoryLimiterError::Window)?;
    let limit = Limit::try_sliding(limit, window).map_err(MemoryLimiterError::Limit)?;
    // Memory has no outage; a clock that is behind is refused.
    let policy = OwnedPolicy::try_new("memory", 1, limit, OnOutage::Deny).map_err(LimiterError::Policy);
    let limiter = policy.and_then(|policy| Limiter::new(policy, Arc::new(MemoryStore::new()), clock));
    limiter.map_err(MemoryLimiterError::Limiter)
}

/// A limit that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryLimiterError {
    /// The window is too short or too long.
    Window(WindowError),
    /// The limit is out of range.
    Limit(LimitError),
    /// The limiter refused the policy made of both.
    Limiter(LimiterError),
}

impl fmt::Display for MemoryLimiterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Window(_) => "the window of a limiter in memory is out of range",
            Self::Limit(_) => "the limit of a limiter in memory is out of range",
            Self::Limiter(_) => "a limiter in memory cannot be made of this policy",
        })
    }
}

impl std::error::Error for MemoryLimiterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Window(error) => Some(error),
            Self::Limit(error) => Some(error),
            Self::Limiter(error) => Some(error),
        }
    }
}
