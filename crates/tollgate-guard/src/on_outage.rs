//! What a policy does when the store is gone.

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
    /// top of what was spent before it; `m` machines together admit at most `m` times that. A share of
    /// [`Share::one_of`]`(m)` keeps them within one quota.
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
    /// If it is not within 1 to 100: in a constant that is a compile error.
    #[must_use]
    pub const fn percent(percent: u32) -> Self {
        assert!(percent >= 1 && percent <= 100, "a share is 1 to 100 per cent");
        Self { parts: percent, of: 100 }
    }

    /// One part of `machines` equal ones.
    ///
    /// # Panics
    /// If `machines` is 0: in a constant that is a compile error.
    #[must_use]
    pub const fn one_of(machines: u32) -> Self {
        assert!(machines >= 1, "a share is one of at least 1 machine");
        Self { parts: 1, of: machines }
    }

    /// `limit` with this share of its units, rounded down: of a bucket both what it holds and what is refilled.
    ///
    /// Where less than one unit of a refill is left, one unit comes at so much longer intervals (at most [`Window::MAX`]): a
    /// bucket that is never refilled would stay empty into the next outage.
    #[must_use]
    pub fn of(self, limit: Limit) -> Limit {
        match limit.with_quota(self.units(limit.quota())) {
            Limit::TokenBucket { capacity, refill, interval } => {
                let share = self.units(refill);
                if share == Units::ZERO && refill > Units::ZERO {
                    return Limit::TokenBucket {
                        capacity,
                        refill: Units::ONE,
                        interval: self.until_a_unit(refill, interval),
                    };
                }
                Limit::TokenBucket { capacity, refill: share, interval }
            }
            window @ (Limit::FixedWindow { .. } | Limit::SlidingWindow { .. }) => window,
        }
    }

    /// How long it takes until the share of `refill` units for each `interval` comes to one unit, rounded up.
    fn until_a_unit(self, refill: Units, interval: Window) -> Window {
        let shares = u128::from(self.parts) * u128::from(refill.get());
        let ms = (u128::from(interval.ms()) * u128::from(self.of)).div_ceil(shares);
        u64::try_from(ms).ok().and_then(|ms| Window::try_from_ms(ms).ok()).unwrap_or(Window::MAX)
    }

    fn units(self, units: Units) -> Units {
        let share = u128::from(units.get()) * u128::from(self.parts) / u128::from(self.of);
        // At most `units`, since a share is at most all.
        Units::saturating(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

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
        for (share, refill, expected) in [
            (Share::percent(50), 1, (1, 2_000)),
            (Share::percent(30), 1, (1, 3_334)),
            (Share::percent(30), 3, (1, 1_112)),
            (Share::percent(30), 4, (1, 1_000)),
            (Share::one_of(u32::MAX), 1, (1, 1 << 40)),
        ] {
            let (units, ms) = expected;
            let Limit::TokenBucket { refill, interval, .. } =
                share.of(Limit::bucket(100, refill, Window::SECOND))
            else {
                panic!("a bucket stays one")
            };
            assert_eq!((refill.get(), interval.ms()), (units, ms), "{share:?}");
        }
        let largest = Limit::sliding(Units::MAX.get(), Window::DAY);
        assert_eq!(Share::percent(99).of(largest).quota().get(), 8_917_127_262_193_581);
    }
}
