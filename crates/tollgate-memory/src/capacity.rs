//! How many keys a store may hold.

use std::{error::Error, fmt};

use tollgate_store::MOST_CHARGES;

/// Keys a store holds unless told otherwise.
pub(crate) const DEFAULT: usize = 10_000;
/// Half of the keys may be protected, and the keys of one take must find room among the others.
pub(crate) const LEAST: usize = 2 * MOST_CHARGES;
/// Some 30 GB of keys. Beyond it, 32 bits of a hash tell too few of them apart.
pub(crate) const MOST: usize = 1 << 28;

pub(crate) const fn check(capacity: usize) -> Result<(), CapacityError> {
    if capacity < LEAST {
        Err(CapacityError::TooSmall { capacity })
    } else if capacity > MOST {
        Err(CapacityError::TooLarge { capacity })
    } else {
        Ok(())
    }
}

/// A capacity that a store cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CapacityError {
    /// Fewer keys than two of the largest takes.
    TooSmall {
        /// What was asked for.
        capacity: usize,
    },
    /// More keys than a store can tell apart quickly.
    TooLarge {
        /// What was asked for.
        capacity: usize,
    },
    /// There is not so much memory.
    NoMemory {
        /// What was asked for.
        capacity: usize,
    },
}

impl fmt::Display for CapacityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { capacity } => {
                write!(f, "a capacity of {capacity} keys is too small: use at least {LEAST}")
            }
            Self::TooLarge { capacity } => {
                write!(f, "a capacity of {capacity} keys is too large: use at most {MOST}")
            }
            Self::NoMemory { capacity } => {
                write!(f, "no memory for {capacity} keys: use a smaller capacity")
            }
        }
    }
}

impl Error for CapacityError {}
