//! Why a task stopped, in words for the person who typed it.

use std::fmt;

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// A sentence that says what went wrong and, where there is one, the command that mends it.
#[derive(Debug)]
pub(crate) struct Failure(String);

pub(crate) fn failure(text: impl Into<String>) -> Failure {
    Failure(text.into())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
