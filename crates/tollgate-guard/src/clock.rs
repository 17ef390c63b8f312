//! The only file of the project that reads the wall clock.

use std::{
    fmt::Debug,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tollgate_core::Timestamp;

/// Where a guard gets its time from.
///
/// Machines that count together must agree on the time to within one window: see [`Limit::check_clock`](tollgate_core::Limit::check_clock).
/// A check that is held up between this clock and the store falls behind in the same way, so give a window no less time than that can
/// take: a second where threads of one process count, and above the store's deadline where a network lies between.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The time now, never earlier than an answer before.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// The time of this machine, which in one process never steps back: while the system's clock is set back, it stands still.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// The latest time that anyone in this process has been told.
static LATEST_MS: AtomicU64 = AtomicU64::new(0);

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
        Timestamp::from_unix_ms(never_back(&LATEST_MS, ms))
    }
}

/// The later of `ms` and `latest`. Writes only when the millisecond has changed, so that readers seldom disturb one another.
#[inline]
fn never_back(latest: &AtomicU64, ms: u64) -> u64 {
    let before = latest.load(Ordering::Relaxed);
    if ms > before { latest.fetch_max(ms, Ordering::Relaxed).max(ms) } else { before }
}

/// A clock that is set by hand, for tests. Clones share one time.
///
/// ```
/// use tollgate_guard::{Clock, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::at_unix_ms(1_000);
/// clock.advance(Duration::from_millis(500));
/// assert_eq!(clock.now().unix_ms(), 1_500);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that stands at this many milliseconds after the Unix epoch.
    #[must_use]
    pub fn at_unix_ms(ms: u64) -> Self {
        Self(Arc::new(AtomicU64::new(ms)))
    }

    /// Moves the time on, in whole milliseconds.
    pub fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_add(ms)));
    }

    /// Sets the time, which may be earlier than before: tests want to see that too.
    pub fn set_unix_ms(&self, ms: u64) {
        self.0.store(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_while_the_system_clock_is_set_back() {
        let latest = AtomicU64::new(0);
        let told: Vec<_> = [5, 7, 3, 7, 8].map(|ms| never_back(&latest, ms)).into();
        assert_eq!(told, [5, 7, 7, 7, 8]);
    }

    #[test]
    fn the_system_clock_tells_todays_time() {
        let now = SystemClock.now();
        assert!(now > Timestamp::from_unix_ms(1_700_000_000_000) && now < Timestamp::MAX);
        assert!(SystemClock.now() >= now);
    }
}
