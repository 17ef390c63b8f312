//! Errors that only this service has.

use tollgate_script::{ServerAnswer, server_error};
use tollgate_store::{StoreError, StoreErrorKind};

/// What an error text means that is the service's own and not one of Redis.
pub(crate) fn service_error(text: &str) -> Option<StoreError> {
    ERRORS
        .iter()
        .find(|(words, ..)| text.contains(words))
        .map(|(_, kind, advice)| StoreError::new(*kind, *advice))
}

/// Whether the error of a command that several callers share may be due to one of them: to a key that is too long, or that this user
/// may not touch. What is said of the server, its state or the token is everybody's.
pub(crate) fn may_be_of_one(text: &str) -> bool {
    let is_about_size = ["max request size", "max key size", "max single record size"];
    if service_error(text).is_some() {
        return is_about_size.iter().any(|words| text.contains(words));
    }
    let code = text.split(' ').next().unwrap_or_default();
    match server_error(text) {
        ServerAnswer::NoScript | ServerAnswer::Elsewhere(_) => false,
        ServerAnswer::Error(error) => {
            error.kind() != StoreErrorKind::Busy && !["NOAUTH", "WRONGPASS"].contains(&code)
        }
    }
}

const ERRORS: [(&str, StoreErrorKind, &str); 9] = [
    (
        "max daily request limit exceeded",
        StoreErrorKind::Reject,
        "the database has used up its requests of this day: choose a larger plan, or wait for the next day",
    ),
    (
        "max requests limit exceeded",
        StoreErrorKind::Reject,
        "the database has used up its requests of this month: choose a larger plan",
    ),
    (
        "DB capacity quota exceeded",
        StoreErrorKind::Reject,
        "the database is full: choose a larger plan, or delete what it need not keep",
    ),
    (
        "max request size exceeded",
        StoreErrorKind::Reject,
        "a request was larger than the plan allows: use shorter key parts, or turn batching off",
    ),
    (
        "max key size exceeded",
        StoreErrorKind::Reject,
        "a key was longer than the service allows: use shorter key parts",
    ),
    (
        "max single record size exceeded",
        StoreErrorKind::Reject,
        "a key holds more than the plan allows, so something else writes under the prefix: choose another",
    ),
    (
        "max concurrent connections exceeded",
        StoreErrorKind::Busy,
        "the database has as many connections as its plan allows",
    ),
    (
        "in script shebang",
        StoreErrorKind::Reject,
        "what answers is a proxy that passes the service's script flags on to a Redis which does not know them: \
         use a gateway that drops them, such as tollgate-gateway",
    ),
    (
        "Wrong password or user",
        StoreErrorKind::Reject,
        "the token is not one of this database, or its user is gone: make a new one",
    ),
];
