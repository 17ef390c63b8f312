//! When a charge is written.

/// When a charge is written to the count.
///
/// The enum is exhaustive on purpose: a store has to know what to do with each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Charging {
    /// If the whole take is admitted: a refused request costs nothing. The default.
    #[default]
    IfAllowed,
    /// In every case: refused requests count too, and what is left goes below zero.
    Always,
    /// In no case: a peek. It still votes on the take if it is enforced ("would 5 fit?").
    Never,
}

impl Charging {
    /// Whether a charge is written that `fits` its own limit, in a take that is `admitted` as a whole.
    ///
    /// ```
    /// use tollgate_core::Charging;
    ///
    /// assert!(!Charging::IfAllowed.writes(true, false)); // another charge refused the take
    /// assert!(Charging::Always.writes(false, false));
    /// ```
    #[inline]
    #[must_use]
    pub const fn writes(self, fits: bool, admitted: bool) -> bool {
        match self {
            Self::IfAllowed => fits && admitted,
            Self::Always => true,
            Self::Never => false,
        }
    }
}
