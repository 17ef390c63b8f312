//! The id of a delivery.

use std::{error::Error, fmt};

/// A checked id: 1 to 128 characters of `A-Z`, `a-z`, `0-9`, `.`, `_`, `:` and `-`, as all senders have them.
///
/// It becomes part of a key, so what a stranger sends is held to this before anything is stored.
///
/// ```
/// use tollgate_webhook::DeliveryId;
///
/// let id = DeliveryId::try_new("72d3162e-cc78-11e3-81ab-4c9367dc0958")?;
/// assert_eq!(id.as_str(), "72d3162e-cc78-11e3-81ab-4c9367dc0958");
/// assert!(DeliveryId::try_new("../etc").is_err());
/// # Ok::<(), tollgate_webhook::DeliveryIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(Box<str>);

impl DeliveryId {
    /// The longest id, in bytes.
    pub const LONGEST: usize = 128;

    /// Checks an id.
    ///
    /// # Errors
    /// Only if it is none.
    pub fn try_new(id: &str) -> Result<Self, DeliveryIdError> {
        Self::of_bytes(id.as_bytes())
    }

    /// Checks an id as it is in a header.
    ///
    /// # Errors
    /// Only if it is none.
    pub fn of_bytes(id: &[u8]) -> Result<Self, DeliveryIdError> {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:-".contains(byte);
        if id.is_empty() {
            return Err(DeliveryIdError::Empty);
        }
        if id.len() > Self::LONGEST {
            return Err(DeliveryIdError::Long { bytes: id.len() });
        }
        if !id.iter().all(is_plain) {
            return Err(DeliveryIdError::Sign);
        }
        Ok(Self(id.iter().map(|&byte| char::from(byte)).collect::<String>().into()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A text that is no id of a delivery. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryIdError {
    /// There is nothing.
    Empty,
    /// It is longer than any sender's.
    Long {
        /// Its length.
        bytes: usize,
    },
    /// It holds a character that no sender uses.
    Sign,
}

impl fmt::Display for DeliveryIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the delivery's id is empty"),
            Self::Long { bytes } => {
                write!(f, "the delivery's id has {bytes} bytes: at most {} are taken", DeliveryId::LONGEST)
            }
            Self::Sign => f.write_str(
                "the delivery's id holds something else than letters, digits, `.`, `_`, `:` and `-`",
            ),
        }
    }
}

impl Error for DeliveryIdError {}
