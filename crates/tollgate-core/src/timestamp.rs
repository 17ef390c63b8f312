//! An instant, as everyone who shares a count must name it.

use core::{fmt, time::Duration};

/// An instant in whole milliseconds since the Unix epoch, saturating at 2^53 − 1 (the year 287396).
///
/// ```
/// use tollgate_core::Timestamp;
///
/// let noon = Timestamp::from_unix_ms(1_700_000_000_000);
/// assert_eq!(noon.saturating_add_ms(500).since(noon).as_millis(), 500);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);
    /// The last instant. It only ever ends something: a charge made there is decided one millisecond earlier.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// The instant `ms` milliseconds after the epoch, or [`Timestamp::MAX`] where that is later.
    #[must_use]
    pub const fn from_unix_ms(ms: u64) -> Self {
        if ms <= Self::MAX.0 { Self(ms) } else { Self::MAX }
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn unix_ms(self) -> u64 {
        self.0
    }

    /// The instant `ms` milliseconds later, or [`Timestamp::MAX`].
    #[must_use]
    pub const fn saturating_add_ms(self, ms: u64) -> Self {
        Self::from_unix_ms(self.0.saturating_add(ms))
    }

    /// The instant `after` later, in whole milliseconds rounded up, or [`Timestamp::MAX`].
    ///
    /// Rounded up, since every duration here is a wait: waiting less would be too early.
    #[must_use]
    pub fn saturating_add(self, after: Duration) -> Self {
        let ms = after.as_nanos().div_ceil(1_000_000);
        self.saturating_add_ms(u64::try_from(ms).unwrap_or(u64::MAX))
    }

    /// How long after `earlier` this is; nothing if it is not later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The latest instant that can still lie inside a window: the largest one is always an end.
    pub(crate) const fn inside(self) -> u64 {
        if self.0 < Self::MAX.0 { self.0 } else { Self::MAX.0 - 1 }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_saturate_and_durations_round_up() {
        assert_eq!(Timestamp::MAX.unix_ms(), 9_007_199_254_740_991);
        assert_eq!(Timestamp::from_unix_ms(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MAX.saturating_add_ms(1), Timestamp::MAX);
        assert_eq!(Timestamp::EPOCH.saturating_add(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::EPOCH.saturating_add(Duration::from_nanos(1)).unix_ms(), 1);
        assert_eq!(Timestamp::EPOCH.saturating_add(Duration::from_millis(2)).unix_ms(), 2);
        assert_eq!(Timestamp::EPOCH.since(Timestamp::MAX), Duration::ZERO);
        assert_eq!(Timestamp::MAX.inside(), Timestamp::MAX.unix_ms() - 1);
        assert_eq!(Timestamp::from_unix_ms(5).inside(), 5);
    }
}
