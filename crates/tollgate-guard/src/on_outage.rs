//! What a policy does when the store is gone.

use std::fmt;

use tollgate_core::{Limit, Units, Window};

/// What a policy does with a request when the store cannot decide.
///
/// There is no default: whoever writes a policy says which of the two it is, an action that may go on or one that costs money.
/// The enum is exhaustive on purpose: there is no fourth thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnOutage {
    /// Let it through without counting, and log the outage: for those who are signed in.
    Allow,
    /// Refuse it as unavailable: for what costs money and is open to the world.
    Deny,
    /// Count in the guard's local store, against a share of the quota, until the store is back.
    ///
    /// Nothing is reconciled afterwards. In each window of an outage one machine admits at most `⌊quota·share⌋` units of a key, on
    /// top of what was spent before it; of a bucket, its share of what the bucket holds, and of what is refilled meanwhile. `m`
    /// machines together admit at most `m` times that. A share of [`Share::one_of`]`(m)` keeps them within one quota.
    Local(Share),
}

/// A share of a quota, more than nothing and at most all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    parts: u32,
    of: u32,
}

impl Share {
    /// So many per cent, 1 to 100.
    ///
    /// # Panics
    /// If it is not within 1 to 100: in a constant that is a compile error. For numbers that arrive at run time there is
    /// [`Share::try_percent`].
    #[must_use]
    pub const fn percent(percent: u32) -> Self {
        assert!(percent >= 1 && percent <= 100, "a share is 1 to 100 per cent");
        Self { parts: percent, of: 100 }
    }

    /// As [`Share::percent`], for a number that arrives at run time.
    ///
    /// # Errors
    /// Only if it is not within 1 to 100.
    pub const fn try_percent(percent: u32) -> Result<Self, ShareError> {
        if percent >= 1 && percent <= 100 { Ok(Self::percent(percent)) } else { Err(ShareError(())) }
    }

    /// One part of `machines` equal ones.
    ///
    /// # Panics
    /// If `machines` is 0: in a constant that is a compile error. For numbers that arrive at run time there is
    /// [`Share::try_one_of`].
    #[must_use]
    pub const fn one_of(machines: u32) -> Self {
        assert!(machines >= 1, "a share is one of at least 1 machine");
        Self { parts: 1, of: machines }
    }

    /// As [`Share::one_of`], for a number that arrives at run time.
    ///
    /// # Errors
    /// Only if `machines` is 0.
    pub const fn try_one_of(machines: u32) -> Result<Self, ShareError> {
        if machines >= 1 { Ok(Self::one_of(machines)) } else { Err(ShareError(())) }
    }

    /// `limit` with this share of its units, rounded down: of a bucket both what it holds and what is refilled. Where less than
    /// one unit would be refilled, one is, and the interval is longer instead.
    #[must_use]
    pub fn of(self, limit: Limit) -> Limit {
        match limit.with_quota(self.units(limit.quota())) {
            Limit::TokenBucket { capacity, refill, interval } => match self.units(refill) {
                Units::ZERO if refill > Units::ZERO => Limit::TokenBucket {
                    capacity,
                    refill: Units::ONE,
                    interval: self.stretched(interval, refill),
                },
                refill => Limit::TokenBucket { capacity, refill, interval },
            },
            window @ (Limit::FixedWindow { .. } | Limit::SlidingWindow { .. }) => window,
        }
    }

    /// In what time this share of `refill` units each `interval` comes to one unit, rounded up.
    fn stretched(self, interval: Window, refill: Units) -> Window {
        let one = u128::from(interval.ms()) * u128::from(self.of);
        let ms = one.div_ceil(u128::from(refill.get()) * u128::from(self.parts));
        u64::try_from(ms).ok().and_then(|ms| Window::try_from_ms(ms).ok()).unwrap_or(Window::MAX)
    }

    fn units(self, units: Units) -> Units {
        let share = u128::from(units.get()) * u128::from(self.parts) / u128::from(self.of);
        // At most `units`, since a share is at most all.
        Units::saturating(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

/// A share of nothing, or of more than all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareError(());

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a share out of range: use 1 to 100 per cent, or one of at least 1 machine")
    }
}

impl std::error::Error for ShareError {}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::Window;

    #[test]
    fn a_share_rounds_down() {
        let limit = Limit::fixed(15, Window::DAY);
        for (share, quota) in [
            (Share::percent(10), 1),
            (Share::percent(100), 15),
            (Share::one_of(2), 7),
            (Share::one_of(16), 0),
        ] {
            assert_eq!(share.of(limit), Limit::fixed(quota, Window::DAY));
        }
        let bucket = Limit::bucket(100, 10, Window::SECOND);
        assert_eq!(Share::one_of(3).of(bucket), Limit::bucket(33, 3, Window::SECOND));
        // A third of 1 a second is 1 in 3 seconds, and two fifths of it 1 in 2.5.
        for (share, interval_ms) in [(Share::one_of(3), 3_000), (Share::percent(40), 2_500)] {
            let shared = share.of(Limit::bucket(100, 1, Window::SECOND));
            assert_eq!(shared, Limit::bucket(shared.quota().get(), 1, Window::from_ms(interval_ms)));
        }
        // 2/7 of a unit a second: 1 in 3.5 s. And never less often than the longest window there is.
        assert_eq!(
            Share::one_of(7).of(Limit::bucket(70, 2, Window::SECOND)),
            Limit::bucket(10, 1, Window::from_ms(3_500))
        );
        assert_eq!(Share::one_of(2).of(Limit::bucket(2, 1, Window::MAX)), Limit::bucket(1, 1, Window::MAX));
        let largest = Limit::sliding(Units::MAX.get(), Window::DAY);
        assert_eq!(Share::percent(99).of(largest).quota().get(), 8_917_127_262_193_581);
    }

    #[test]
    fn a_share_is_some_and_at_most_all() {
        for percent in [0, 101, u32::MAX] {
            assert!(Share::try_percent(percent).is_err(), "{percent}");
        }
        for percent in [1, 100] {
            assert_eq!(Share::try_percent(percent), Ok(Share::percent(percent)));
        }
        assert_eq!(Share::try_one_of(1), Ok(Share::one_of(1)));
        assert!(Share::try_one_of(0).is_err_and(|error| error.to_string().contains("at least 1 machine")));
    }
}
