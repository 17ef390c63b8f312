//! What comes back: good answers, and everything else.

use tollgate_core::{Limit, Timestamp, Window};
use tollgate_script::{Reply, forget_answer, settle_answer, take_answer};
use tollgate_store::{Charge, Key, Name, StoreErrorKind, Take};

const NOW: Timestamp = Timestamp::from_unix_ms(1_796_040_000_250);

/// The answer to a take of a fixed window of 3, a sliding one of 3, and a bucket of 3, one unit each.
fn answer(reply: &Reply) -> Result<Vec<i64>, StoreErrorKind> {
    let charges = [
        ("a", Limit::fixed(3, Window::MINUTE)),
        ("b", Limit::sliding(3, Window::MINUTE)),
        ("c", Limit::bucket(3, 1, Window::MINUTE)),
    ]
    .map(|(name, limit)| Charge::new(Key::new(Name::new(name), &[]), limit));
    take_answer(&Take { charges: &charges, now: NOW }, reply)
        .map(|decisions| decisions.iter().map(tollgate_core::Decision::left).collect())
        .map_err(|error| error.kind())
}

fn text(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

#[test]
fn what_was_found_decides() {
    for (reply, left) in [
        ("15 - 0 0 - 0 0 - 0 0", [2, 2, 2]),
        ("15 0 1 0 0 1 0 0 1796040000250 2", [1, 1, 1]),
        // Refused by the second: nothing is taken.
        ("10 0 1 0 0 3 0 0 1796040000250 2", [2, 0, 2]),
        // A clock that is ahead has been at the first; the window before weighs in the second.
        ("15 1 1 9 -1 1 0 - 0 0", [1, 1, 2]),
        // A debt.
        ("6 - 0 0 - 0 0 0 1796040000250 -5", [3, 3, -5]),
    ] {
        assert_eq!(answer(&text(reply)), Ok(left.to_vec()), "{reply}");
    }
}

#[test]
fn a_clock_that_is_behind_is_told_so_by_both() {
    assert_eq!(answer(&text("-1 2 1 0 - 0 0 - 0 0")), Err(StoreErrorKind::ClockBehind));
    // Only one of them says so.
    assert_eq!(answer(&text("15 2 1 0 - 0 0 - 0 0")), Err(StoreErrorKind::Disagree));
    assert_eq!(answer(&text("-1 1 1 0 - 0 0 - 0 0")), Err(StoreErrorKind::Disagree));
}

#[test]
fn a_verdict_that_is_not_the_cores_is_an_error() {
    // The right one is 15: all fit.
    for verdict in (0..=33).filter(|verdict| *verdict != 15) {
        let reply = text(&format!("{verdict} - 0 0 - 0 0 - 0 0"));
        assert_eq!(answer(&reply), Err(StoreErrorKind::Disagree), "{verdict}");
    }
}

#[test]
fn what_no_script_answers_is_garbage() {
    let none = "- 0 0";
    let cases = [
        String::new(),
        "OK".into(),
        "15".into(),
        format!("15 {none} {none}"),
        format!("15 {none} {none} - 0"),
        format!("15 {none} {none} {none} {none}"),
        format!("15 {none} {none} {none} "),
        format!(" 15 {none} {none} {none}"),
        format!("- {none} {none} {none}"),
        format!("+15 {none} {none} {none}"),
        format!("1e1 {none} {none} {none}"),
        format!("15 - 0  0 {none} {none}"),
        format!("15 0 -1 0 {none} {none}"),
        format!("15 0 1.5 0 {none} {none}"),
        format!("15 0 - 0 {none} {none}"),
        format!("15 0 9007199254740992 0 {none} {none}"),
        format!("15 0 99999999999999999999 0 {none} {none}"),
        // A fixed window looks at none before, a sliding one not further than one before.
        format!("15 -1 1 0 {none} {none}"),
        format!("15 3 1 0 {none} {none}"),
        format!("15 {none} -2 1 0 {none}"),
        format!("15 {none} {none} 1 0 0"),
        format!("15 {none} {none} 0 -1 0"),
        format!("15 {none} {none} 0 1 -9007199254740992"),
        format!("15 {none} {none} 0 1 -9223372036854775808"),
        "15 \u{661} 0 0".into(),
    ];
    for case in cases {
        assert_eq!(answer(&text(&case)), Err(StoreErrorKind::Garbage), "{case:?}");
    }
    let array = Reply::Array(vec![text("15")]);
    for reply in [Reply::Nil, Reply::Int(15), array.clone()] {
        assert_eq!(answer(&reply), Err(StoreErrorKind::Garbage), "{reply:?}");
    }
    for reply in [Reply::Nil, Reply::Int(2), Reply::Int(-1), text("1"), array.clone()] {
        assert_eq!(
            settle_answer(&reply).map_err(|error| error.kind()),
            Err(StoreErrorKind::Garbage),
            "{reply:?}"
        );
    }
    for reply in [Reply::Nil, Reply::Int(-1), text("1"), array] {
        assert_eq!(
            forget_answer(&reply).map_err(|error| error.kind()),
            Err(StoreErrorKind::Garbage),
            "{reply:?}"
        );
    }
    assert!(settle_answer(&Reply::Int(0)).is_ok() && settle_answer(&Reply::Int(1)).is_ok());
    assert!(forget_answer(&Reply::Int(0)).is_ok() && forget_answer(&Reply::Int(32)).is_ok());
}
