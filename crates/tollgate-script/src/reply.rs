//! What comes back from a server.

use tollgate_store::{StoreError, StoreErrorKind};

/// A server's answer in a form that belongs to no protocol.
///
/// An error is none of these: whoever receives one asks [`server_error`](crate::server_error) what it means. The enum is
/// exhaustive on purpose: scripts answer with nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    Nil,
    /// A whole number.
    Int(i64),
    /// Text, a status included.
    Text(String),
    /// Several.
    Array(Vec<Self>),
}

/// An answer that no script of this crate gives. What it said is left out: it could be anything.
#[cold]
pub(crate) fn garbage(detail: &'static str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Garbage,
        format!("{detail}: what answers here is not the script that was called"),
    )
}
