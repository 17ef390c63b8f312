//! What can go wrong below a decision.

use std::{borrow::Cow, error::Error, fmt, sync::Arc};

use tollgate_core::ClockBehind;

/// A store that could not decide. A refusal is never one of these.
///
/// Its text says what to do, and names neither a key nor a credential; what lies behind it is its
/// [`source`](std::error::Error::source). Clones share that source, so that one failure can answer all calls it hit.
#[derive(Clone, Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    detail: Cow<'static, str>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The caller asked for what no store can do: a fault of the program, and never let through.
    Misuse,
    /// The caller's clock is more than one window behind what is stored.
    ClockBehind,
    /// No answer within the deadline. The charge may have been counted.
    Timeout,
    /// No connection, or it broke.
    Unreachable,
    /// The backend answers, but cannot serve just now: loading, failing over, out of memory.
    Busy,
    /// The backend answered that it will not: no permission, a quota of the service, a value of another type.
    Reject,
    /// The answer could not be read.
    Garbage,
    /// The store's verdict and the core's differ.
    Disagree,
}

impl StoreError {
    /// An error of this kind.
    #[must_use]
    pub fn new(kind: StoreErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, detail: detail.into(), source: None }
    }

    /// A fault of the calling program.
    #[must_use]
    pub fn misuse(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StoreErrorKind::Misuse, detail)
    }

    /// The same error with what caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// What kind of failure it was.
    #[must_use]
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether the same call may well succeed a little later, with nothing changed by anyone.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Timeout | StoreErrorKind::Unreachable | StoreErrorKind::Busy)
    }
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Misuse => "misuse of the store",
            Self::ClockBehind => "clock behind the store",
            Self::Timeout => "no answer from the store in time",
            Self::Unreachable => "store unreachable",
            Self::Busy => "store busy",
            Self::Reject => "store refused the command",
            Self::Garbage => "unreadable answer from the store",
            Self::Disagree => "store and core disagree",
        })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl From<ClockBehind> for StoreError {
    #[cold]
    fn from(behind: ClockBehind) -> Self {
        Self::new(StoreErrorKind::ClockBehind, "nothing is counted by such a clock").caused_by(behind)
    }
}
