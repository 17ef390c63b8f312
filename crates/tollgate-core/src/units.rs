//! What limits count in: whole units that every side of a wire can hold.

use core::fmt;

/// A whole number of units: requests, tokens, bytes, millionths of a currency unit.
///
/// Holds 0 to 2^53 − 1 ([`Units::MAX`]), the integers that Rust, Lua and JSON all hold exactly.
///
/// ```
/// use tollgate_core::Units;
///
/// const QUOTA: Units = Units::new(5_000);
/// assert_eq!(QUOTA.get(), 5_000);
/// assert!(Units::try_new(1 << 53).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Units(u64);

impl Units {
    /// No units at all: a charge of none peeks, a quota of none is a closed limit.
    pub const ZERO: Self = Self(0);
    /// One unit: what a request costs unless it says otherwise.
    pub const ONE: Self = Self(1);
    /// The largest amount, 2^53 − 1.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// Makes an amount that is known when the program is written.
    ///
    /// # Panics
    /// If `units` is above [`Units::MAX`]: in a constant that is a compile error. For amounts that arrive at run
    /// time there is [`Units::try_new`].
    #[must_use]
    pub const fn new(units: u64) -> Self {
        assert!(units <= Self::MAX.0, "units are at most 2^53 - 1");
        Self(units)
    }

    /// Makes an amount that arrived at run time.
    ///
    /// # Errors
    /// Only if `units` is above [`Units::MAX`].
    pub const fn try_new(units: u64) -> Result<Self, UnitsError> {
        if units <= Self::MAX.0 { Ok(Self(units)) } else { Err(UnitsError(units)) }
    }

    /// Makes the amount nearest to `units`: anything above [`Units::MAX`] becomes that.
    #[must_use]
    pub const fn saturating(units: u64) -> Self {
        if units <= Self::MAX.0 { Self(units) } else { Self::MAX }
    }

    /// The number of units.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of units, signed: every amount fits.
    #[expect(clippy::cast_possible_wrap, reason = "2^53 - 1 is far below i64::MAX")]
    pub(crate) const fn signed(self) -> i64 {
        self.0 as i64
    }

    /// The amount nearest to a signed number: below zero there is nothing, above the largest there is that.
    #[expect(clippy::cast_sign_loss, reason = "the negative half is handled before the cast")]
    pub(crate) const fn clamped(units: i64) -> Self {
        if units <= 0 { Self::ZERO } else { Self::saturating(units as u64) }
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u32> for Units {
    fn from(units: u32) -> Self {
        Self(u64::from(units))
    }
}

impl TryFrom<u64> for Units {
    type Error = UnitsError;

    fn try_from(units: u64) -> Result<Self, UnitsError> {
        Self::try_new(units)
    }
}

impl From<Units> for u64 {
    fn from(units: Units) -> Self {
        units.0
    }
}

/// An amount above [`Units::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitsError(u64);

impl fmt::Display for UnitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} units are too many: use at most {} (2^53 - 1), or a coarser unit", self.0, Units::MAX)
    }
}

impl core::error::Error for UnitsError {}

#[cfg(test)]
mod tests {
    use super::Units;

    #[test]
    fn the_largest_amount_is_the_largest_exact_integer_of_a_double() {
        assert_eq!(Units::MAX.get(), 9_007_199_254_740_991);
        assert_eq!(Units::try_new(9_007_199_254_740_991), Ok(Units::MAX));
        assert!(Units::try_new(9_007_199_254_740_992).is_err());
        assert_eq!(Units::saturating(u64::MAX), Units::MAX);
        assert_eq!(Units::saturating(7).get(), 7);
        assert_eq!(Units::try_from(u64::MAX).unwrap_err(), Units::try_new(u64::MAX).unwrap_err());
    }

    #[test]
    fn a_signed_number_becomes_the_nearest_amount() {
        assert_eq!(Units::clamped(i64::MIN), Units::ZERO);
        assert_eq!(Units::clamped(-1), Units::ZERO);
        assert_eq!(Units::clamped(1), Units::ONE);
        assert_eq!(Units::clamped(i64::MAX), Units::MAX);
    }
}
