//! Why a request is not genuine.

use std::{error::Error, fmt};

use http::HeaderMap;

/// A request that is not genuine, or cannot be told to be. It repeats nothing of what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureError {
    /// A header is missing.
    Missing {
        /// Which.
        header: &'static str,
    },
    /// A header came more than once.
    Repeated {
        /// Which.
        header: &'static str,
    },
    /// A header does not look as it should.
    Malformed {
        /// Which.
        header: &'static str,
    },
    /// No secret made the signature.
    Mismatch,
    /// It is genuine, and was sent longer ago than is allowed.
    TooOld,
    /// It is genuine, and was sent further in the future than clocks differ.
    TooNew,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { header } => write!(f, "the header `{header}` is missing"),
            Self::Repeated { header } => write!(f, "the header `{header}` came more than once"),
            Self::Malformed { header } => write!(f, "the header `{header}` does not look as it should"),
            Self::Mismatch => f.write_str("the signature is of none of the configured secrets"),
            Self::TooOld => f.write_str("the request was signed too long ago"),
            Self::TooNew => f.write_str("the request was signed in the future: one of the clocks is wrong"),
        }
    }
}

impl Error for SignatureError {}

/// The one value of a header. A second one could be read by somebody else.
pub(crate) fn only<'h>(headers: &'h HeaderMap, header: &'static str) -> Result<&'h [u8], SignatureError> {
    let mut values = headers.get_all(header).iter();
    let value = values.next().ok_or(SignatureError::Missing { header })?;
    if values.next().is_some() {
        return Err(SignatureError::Repeated { header });
    }
    Ok(value.as_bytes())
}
