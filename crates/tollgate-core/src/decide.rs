//! Several charges, all or nothing.

use core::{fmt, time::Duration};

use crate::{Charging, Limit, State, Step, Timestamp, Units};

/// One charge of a take, beside the state its key was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The limit it is charged to.
    pub limit: Limit,
    /// How many units.
    pub cost: Units,
    /// When it is written.
    pub charging: Charging,
    /// Whether it votes: a charge that is not enforced is a shadow, decided and counted beside the others, never
    /// refusing.
    pub enforce: bool,
    /// What its key was found to hold.
    pub found: Option<State>,
}

/// Decides several charges together: if every enforced one fits, all are taken; otherwise only those charged
/// [`Charging::Always`].
///
/// Calls `each` once for every charge, in order, and says whether the take was admitted. This is the one function that
/// a store in memory and the reader of a script's reply both call, so they cannot differ. The states are given by their
/// owners and no key is known here: that no two charges share a key is the store's to check.
///
/// # Errors
/// Only if `now` lies more than one window before what some charge found; then `each` was not called at all.
///
/// ```
/// use tollgate_core::{Asked, Charging, Limit, Timestamp, Units, Window, decide};
///
/// let charge = |quota| Asked {
///     limit: Limit::fixed(quota, Window::MINUTE),
///     cost: Units::ONE,
///     charging: Charging::IfAllowed,
///     enforce: true,
///     found: None,
/// };
/// let mut written = 0;
/// let admitted = decide(&[charge(10), charge(0)], Timestamp::EPOCH, |step| {
///     written += usize::from(step.state.is_some());
/// });
/// assert_eq!((admitted, written), (Ok(false), 0)); // the second is closed, so the first is not charged either
/// ```
#[inline]
pub fn decide(asked: &[Asked], now: Timestamp, mut each: impl FnMut(Step)) -> Result<bool, ClockBehind> {
    for charge in asked {
        charge.limit.check_clock(charge.found.as_ref(), now)?;
    }
    let admitted = match asked {
        // One charge decides for itself: it is written only where it fits, and it fits only where it is admitted.
        [only] => {
            let step = only.step(now, true);
            each(step);
            return Ok(!only.enforce || step.decision.is_allowed());
        }
        several => several.iter().all(|charge| !charge.enforce || charge.fits(now)),
    };
    for charge in asked {
        each(charge.step(now, admitted));
    }
    Ok(admitted)
}

impl Asked {
    #[inline]
    fn fits(&self, now: Timestamp) -> bool {
        self.limit.fits(self.found, self.cost, now)
    }

    #[inline]
    fn step(&self, now: Timestamp, admitted: bool) -> Step {
        self.limit.step(self.found, self.cost, now, self.charging, admitted)
    }
}

/// A clock that is more than one window behind what is stored: what it says cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockBehind {
    pub(crate) by: Duration,
}

impl ClockBehind {
    /// How far `now` lies before the start of the stored window.
    #[must_use]
    pub const fn by(&self) -> Duration {
        self.by
    }
}

impl fmt::Display for ClockBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let behind_ms = self.by.as_millis();
        write!(
            f,
            "the clock is {behind_ms} ms behind the window that is stored, more than one window: set the clocks of all machines that count together"
        )
    }
}

impl core::error::Error for ClockBehind {}
