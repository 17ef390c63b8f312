//! Units per time and the way they are counted: what a policy promises.

use core::fmt;

use crate::{
    Charging, ClockBehind, Stamp, State, Step, Timestamp, Units, UnitsError, Window,
    bucket::Bucket,
    windows::{Kind, Windows},
};

/// How many units may be spent in how much time, and how they are counted.
///
/// The enum is exhaustive on purpose: a new algorithm has to break every store at compile time.
///
/// ```
/// use tollgate_core::{Limit, Window};
///
/// const ASK: Limit = Limit::fixed(15, Window::DAY);
/// assert_eq!("15 per 1 d".parse(), Ok(ASK));
/// assert_eq!("30 per 1 m sliding".parse(), Ok(Limit::sliding(30, Window::MINUTE)));
/// assert_eq!("bucket 100 refill 10 per 1 s".parse(), Ok(Limit::bucket(100, 10, Window::SECOND)));
/// ```
///
/// # What each admits
///
/// | kind | in one aligned window | in any interval as long as a window |
/// |---|---|---|
/// | fixed window | `quota` | `2·quota`: the end of one window and the start of the next |
/// | sliding window | `quota` | `quota + ⌊P·x/W⌋`, P the count of the previous window, x how far into the current one the interval ends: at most `2·quota − 1` |
/// | token bucket | – | `capacity` and what is refilled meanwhile |
///
/// A quota (or capacity) of 0 is a closed limit: everything is refused and no wait helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// A quota for each window, windows aligned to the epoch.
    FixedWindow {
        /// Units admitted in one window.
        quota: Units,
        /// How long a window is.
        window: Window,
    },
    /// A quota for the current window and what still weighs of the previous one, in exact integers:
    /// `previous·(W−x) + (current+cost)·W ≤ quota·W`.
    SlidingWindow {
        /// Units admitted.
        quota: Units,
        /// How long a window is, W.
        window: Window,
    },
    /// A store of units that is refilled step by step.
    TokenBucket {
        /// Units it holds when full, and starts with.
        capacity: Units,
        /// Units added at each interval. With 0, which the constructors refuse, it never refills.
        refill: Units,
        /// How long an interval is. It starts when a full bucket is first drawn from.
        interval: Window,
    },
}

impl Limit {
    /// `quota` units in each window, windows aligned to the epoch.
    ///
    /// # Panics
    /// If `quota` is above [`Units::MAX`]: in a constant that is a compile error. For numbers that arrive at run time
    /// there is [`Limit::try_fixed`].
    #[must_use]
    pub const fn fixed(quota: u64, window: Window) -> Self {
        Self::FixedWindow { quota: Units::new(quota), window }
    }

    /// `quota` units in a sliding window.
    ///
    /// # Panics
    /// As [`Limit::fixed`].
    #[must_use]
    pub const fn sliding(quota: u64, window: Window) -> Self {
        Self::SlidingWindow { quota: Units::new(quota), window }
    }

    /// A bucket of `capacity` units to which `refill` units are added each `interval`.
    ///
    /// # Panics
    /// If a number is above [`Units::MAX`] or `refill` is 0: in a constant that is a compile error. For numbers that
    /// arrive at run time there is [`Limit::try_bucket`].
    #[must_use]
    pub const fn bucket(capacity: u64, refill: u64, interval: Window) -> Self {
        assert!(refill >= 1, "a bucket is refilled by at least 1 unit");
        Self::TokenBucket { capacity: Units::new(capacity), refill: Units::new(refill), interval }
    }

    /// As [`Limit::fixed`], for a number that arrives at run time.
    ///
    /// # Errors
    /// Only if `quota` is above [`Units::MAX`].
    pub fn try_fixed(quota: u64, window: Window) -> Result<Self, LimitError> {
        Ok(Self::FixedWindow { quota: Units::try_new(quota)?, window })
    }

    /// As [`Limit::sliding`], for a number that arrives at run time.
    ///
    /// # Errors
    /// Only if `quota` is above [`Units::MAX`].
    pub fn try_sliding(quota: u64, window: Window) -> Result<Self, LimitError> {
        Ok(Self::SlidingWindow { quota: Units::try_new(quota)?, window })
    }

    /// As [`Limit::bucket`], for numbers that arrive at run time.
    ///
    /// # Errors
    /// Only if a number is above [`Units::MAX`] or `refill` is 0.
    pub fn try_bucket(capacity: u64, refill: u64, interval: Window) -> Result<Self, LimitError> {
        if refill == 0 {
            return Err(LimitError::NeverRefilled);
        }
        Ok(Self::TokenBucket {
            capacity: Units::try_new(capacity)?,
            refill: Units::try_new(refill)?,
            interval,
        })
    }

    /// Units that are admitted: the quota of a window, the capacity of a bucket.
    #[must_use]
    pub const fn quota(&self) -> Units {
        match *self {
            Self::FixedWindow { quota, .. } | Self::SlidingWindow { quota, .. } => quota,
            Self::TokenBucket { capacity, .. } => capacity,
        }
    }

    /// The same limit with another quota or capacity.
    #[must_use]
    pub const fn with_quota(self, quota: Units) -> Self {
        match self {
            Self::FixedWindow { window, .. } => Self::FixedWindow { quota, window },
            Self::SlidingWindow { window, .. } => Self::SlidingWindow { quota, window },
            Self::TokenBucket { refill, interval, .. } => {
                Self::TokenBucket { capacity: quota, refill, interval }
            }
        }
    }

    /// How long its window is, or for a bucket how long an empty one takes to be full (at most [`Window::MAX`]).
    #[must_use]
    pub fn period(&self) -> Window {
        match *self {
            Self::FixedWindow { window, .. } | Self::SlidingWindow { window, .. } => window,
            Self::TokenBucket { capacity, refill, interval } => {
                let refills = capacity.get().div_ceil(refill.get().max(1)).max(1);
                Window::try_from_ms(refills.saturating_mul(interval.ms())).unwrap_or(Window::MAX)
            }
        }
    }

    /// Whether a charge of `cost` can ever fit: not above the quota, and the limit is not closed.
    #[must_use]
    pub const fn can_ever_fit(&self, cost: Units) -> bool {
        let quota = self.quota().get();
        quota > 0 && cost.get() <= quota
    }

    /// One charge against one state: the decision, and the state afterwards.
    ///
    /// `admitted` is what the whole take decided: a charge may fit and yet not be taken, because another was refused.
    /// Total: no state, cost or instant makes it panic, and a state of another width or kind counts as none.
    ///
    /// ```
    /// use tollgate_core::{Charging, Limit, Timestamp, Units, Window};
    ///
    /// let limit = Limit::fixed(2, Window::MINUTE);
    /// let now = Timestamp::from_unix_ms(90_000);
    /// let step = limit.step(None, Units::ONE, now, Charging::IfAllowed, true);
    /// assert!(step.decision.is_allowed());
    /// assert_eq!(step.decision.remaining(), 1);
    /// assert_eq!(step.decision.reset_at().unix_ms(), 120_000);
    /// ```
    #[inline]
    pub fn step(
        &self,
        state: Option<State>,
        cost: Units,
        now: Timestamp,
        charging: Charging,
        admitted: bool,
    ) -> Step {
        match *self {
            Self::FixedWindow { quota, window } => {
                Windows { kind: Kind::Fixed, quota, window }.step(state, cost, now, charging, admitted)
            }
            Self::SlidingWindow { quota, window } => {
                Windows { kind: Kind::Sliding, quota, window }.step(state, cost, now, charging, admitted)
            }
            Self::TokenBucket { capacity, refill, interval } => {
                Bucket { capacity, refill, interval }.step(state, cost, now, charging, admitted)
            }
        }
    }

    /// Whether a charge of `cost` fits now: the admission test of [`Limit::step`] alone.
    #[inline]
    pub(crate) fn fits(&self, state: Option<State>, cost: Units, now: Timestamp) -> bool {
        match *self {
            Self::FixedWindow { quota, window } => {
                Windows { kind: Kind::Fixed, quota, window }.fits(state, cost, now)
            }
            Self::SlidingWindow { quota, window } => {
                Windows { kind: Kind::Sliding, quota, window }.fits(state, cost, now)
            }
            Self::TokenBucket { capacity, refill, interval } => {
                Bucket { capacity, refill, interval }.fits(state, cost, now)
            }
        }
    }

    /// Corrects an earlier charge in the window it was made in: `delta` units more, or fewer where it is negative.
    ///
    /// A window that no longer counts is left alone: none is created, a counter of 0 stays 0, and none goes below it. A
    /// sliding window is corrected in its previous counter too while that still weighs.
    ///
    /// A bucket has no windows. A refund can only be bounded, by the refund and by the capacity: units refilled meanwhile are not
    /// taken back, and one that is full or not there is left alone. More units are always taken out, and one that is not there is
    /// full: the refills since gave back what was taken, not what was used beyond it.
    #[must_use]
    pub fn settle(&self, state: Option<State>, stamp: Stamp, delta: i64, now: Timestamp) -> Option<State> {
        match *self {
            Self::FixedWindow { quota, window } | Self::SlidingWindow { quota, window } => {
                Some(Windows { kind: Kind::Fixed, quota, window }.settle(state?, stamp, delta))
            }
            Self::TokenBucket { capacity, refill, interval } => {
                Bucket { capacity, refill, interval }.settle(state, delta, now)
            }
        }
    }

    /// From then on `state` says the same as no state at all: every lifetime and every eviction comes from this.
    ///
    /// A state of another width or kind is idle from the epoch. [`Timestamp::MAX`] means never: no charge is decided
    /// there.
    #[inline]
    #[must_use]
    pub fn idle_at(&self, state: &State) -> Timestamp {
        match *self {
            Self::FixedWindow { quota, window } => {
                Windows { kind: Kind::Fixed, quota, window }.idle_at(state)
            }
            Self::SlidingWindow { quota, window } => {
                Windows { kind: Kind::Sliding, quota, window }.idle_at(state)
            }
            Self::TokenBucket { capacity, refill, interval } => {
                Bucket { capacity, refill, interval }.idle_at(state)
            }
        }
    }

    /// Whether `now` can be counted beside `state`: clocks may differ by up to one window, no more.
    ///
    /// Between machines the newest time seen wins, so an older `now` is decided at the start of the stored window. Buckets
    /// have no such bound: a clock far ahead delays their refills.
    ///
    /// # Errors
    /// Only if `now` lies more than one window before the window that is stored.
    #[inline]
    pub fn check_clock(&self, state: Option<&State>, now: Timestamp) -> Result<(), ClockBehind> {
        match (*self, state) {
            (Self::FixedWindow { quota, window } | Self::SlidingWindow { quota, window }, Some(state)) => {
                Windows { kind: Kind::Fixed, quota, window }.check_clock(state, now)
            }
            (Self::TokenBucket { .. }, _) | (_, None) => Ok(()),
        }
    }
}

/// A limit that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitError {
    /// A number is above [`Units::MAX`].
    TooManyUnits(UnitsError),
    /// A bucket that nothing is ever added to.
    NeverRefilled,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyUnits(_) => f.write_str("a number of the limit is out of range"),
            Self::NeverRefilled => {
                f.write_str("a bucket with a refill of 0 would never refill: use at least 1")
            }
        }
    }
}

impl core::error::Error for LimitError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::TooManyUnits(error) => Some(error),
            Self::NeverRefilled => None,
        }
    }
}

impl From<UnitsError> for LimitError {
    fn from(error: UnitsError) -> Self {
        Self::TooManyUnits(error)
    }
}
