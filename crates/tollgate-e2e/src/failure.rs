//! Why a run stopped.

use std::fmt;

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// A sentence that says what was expected and what there was.
#[derive(Debug)]
pub(crate) struct Failure(String);

pub(crate) fn failure(text: impl Into<String>) -> Failure {
    Failure(text.into())
}

/// Fails with this text unless it holds.
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result {
    if holds { Ok(()) } else { Err(failure(text())) }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! from {
    ($($error:ty)*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        })*
    };
}

from! { thirtyfour::error::WebDriverError std::io::Error serde_json::Error lexopt::Error ureq::Error }
