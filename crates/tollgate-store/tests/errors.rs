//! What can go wrong below a decision, and how it is said.

use std::{error::Error, io};

use tollgate_core::{Limit, State, Timestamp, Units, Window};
use tollgate_store::{StoreError, StoreErrorKind};

#[test]
fn only_what_may_pass_by_itself_is_transient() {
    let table = [
        (StoreErrorKind::Misuse, false),
        (StoreErrorKind::ClockBehind, false),
        (StoreErrorKind::Timeout, true),
        (StoreErrorKind::Unreachable, true),
        (StoreErrorKind::Busy, true),
        (StoreErrorKind::Reject, false),
        (StoreErrorKind::Garbage, false),
        (StoreErrorKind::Disagree, false),
    ];
    let mut texts = Vec::new();
    for (kind, is_transient) in table {
        let error = StoreError::new(kind, "do this");
        assert_eq!((error.kind(), error.is_transient()), (kind, is_transient));
        assert_eq!(error.to_string(), format!("{kind}: do this"));
        assert!(error.to_string().starts_with(char::is_lowercase));
        assert!(error.source().is_none());
        texts.push(kind.to_string());
    }
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), table.len(), "each kind reads differently");
}

#[test]
fn a_source_is_kept_and_not_repeated() {
    let error = StoreError::new(StoreErrorKind::Unreachable, "check that it runs")
        .caused_by(io::Error::new(io::ErrorKind::ConnectionRefused, "secret of 203.0.113.7"));
    assert_eq!(error.to_string(), "store unreachable: check that it runs");
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::ConnectionRefused));
}

#[test]
fn a_clock_that_is_behind_says_by_how_much() {
    let limit = Limit::fixed(1, Window::MINUTE);
    let (start, end) = (Timestamp::from_unix_ms(600_000), Timestamp::from_unix_ms(660_000));
    let state = State::Window { start, end, used: Units::ONE, before: Units::ZERO };
    let behind = limit.check_clock(Some(&state), Timestamp::from_unix_ms(500_000)).unwrap_err();
    let error = StoreError::from(behind);
    assert_eq!((error.kind(), error.is_transient()), (StoreErrorKind::ClockBehind, false));
    assert!(error.source().is_some_and(|source| source.to_string().contains("100000 ms")));
}

#[test]
fn misuse_is_a_kind_of_its_own() {
    let error = StoreError::misuse(String::from("use it so"));
    assert_eq!(error.kind(), StoreErrorKind::Misuse);
    assert_eq!(error.to_string(), "misuse of the store: use it so");
}
