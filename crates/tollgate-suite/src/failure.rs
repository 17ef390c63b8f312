//! What a store did that it should not have done.

use std::fmt;

/// A case that a store did not pass: which, and what differed.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    case: String,
    detail: String,
}

impl Failure {
    pub(crate) fn new(case: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { case: case.into(), detail: detail.into() }
    }

    /// The name of the case.
    #[must_use]
    pub fn case(&self) -> &str {
        &self.case
    }

    /// What differed from what a store owes.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.case, self.detail)
    }
}

/// As [`Display`](fmt::Display): a test that returns a failure prints this.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
