//! What went wrong with one attempt, for all calls that shared it.

use std::sync::Arc;

use http::StatusCode;
use tollgate_store::{StoreError, StoreErrorKind};

use crate::TransportError;

/// Why an attempt brought no answer. Cheap to copy, since a whole batch may share it.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// No whole answer.
    Transport(Arc<TransportError>),
    /// The task that was to send it is gone, with the runtime it ran on.
    Abandoned,
    /// Out of time.
    Elapsed,
    /// Out of time, or nearly, and never sent.
    Unsent,
    /// An answer of this status that says nothing we can read.
    Status(StatusCode),
    /// An answer that cannot be what it claims to be.
    Garbage(&'static str),
}

impl Failure {
    /// Whether the same request may be sent again: it did not reach the service, or the service is not there just now.
    pub(crate) fn is_retriable(&self) -> bool {
        match self {
            Self::Transport(error) => matches!(**error, TransportError::Broken(_)),
            Self::Abandoned => true,
            Self::Status(status) => status.is_server_error(),
            Self::Elapsed | Self::Unsent | Self::Garbage(_) => false,
        }
    }
}

const NOT_SENT: &str = "not sent, and so not counted: the service does not answer as fast as it is asked";

impl From<Failure> for StoreError {
    #[cold]
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Transport(error) => match *error {
                TransportError::Broken(_) => Self::new(
                    StoreErrorKind::Unreachable,
                    "check the URL, the network and whether the service is up",
                ),
                TransportError::Oversize { .. } => Self::new(
                    StoreErrorKind::Garbage,
                    "an answer of that length is not one of the REST API: check the URL",
                ),
            }
            .caused_by(error),
            Failure::Abandoned => {
                Self::new(StoreErrorKind::Unreachable, "the runtime that was to send the request has stopped")
            }
            Failure::Elapsed => Self::new(StoreErrorKind::Timeout, "the charge may have been counted"),
            Failure::Unsent => Self::new(StoreErrorKind::Timeout, NOT_SENT),
            Failure::Status(status) => of_status(status),
            Failure::Garbage(detail) => Self::new(StoreErrorKind::Garbage, detail),
        }
    }
}

/// What a status means when there is no error text beside it.
fn of_status(status: StatusCode) -> StoreError {
    let (kind, advice) = match status.as_u16() {
        401 => (StoreErrorKind::Reject, "the token is not one of this database: copy it again"),
        403 => (
            StoreErrorKind::Reject,
            "the token may not do this: use the standard token, not the read-only one",
        ),
        408 | 429 | 500..=599 => {
            (StoreErrorKind::Busy, "the service or a proxy before it cannot answer just now")
        }
        413 => (StoreErrorKind::Reject, "the request is too large for a proxy before the service"),
        300..=399 => (StoreErrorKind::Reject, "the URL leads elsewhere: use the one it leads to"),
        400..=499 => (StoreErrorKind::Reject, "there is no REST API at this URL: check it"),
        _ => (StoreErrorKind::Garbage, "that is no answer of the REST API: check the URL"),
    };
    StoreError::new(kind, format!("status {}: {advice}", status.as_u16()))
}
