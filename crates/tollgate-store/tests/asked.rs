//! What a store is asked: at most eight keys, none twice.

use tollgate_core::Stamp;
use tollgate_store::{
    Correction, Forget, MOST_CHARGES, Part, Settle, SettleId, StoreErrorKind, Take, Target,
};

use crate::support::{LIMIT, NOON, charge, key};

/// Checks keys of these parts in each of the three calls, which must agree.
fn check(parts: &[Part<'_>]) -> Result<(), String> {
    let parts: Vec<_> = parts.iter().map(|part| [*part]).collect();
    let charges: Vec<_> = parts.iter().map(|parts| charge(parts)).collect();
    let corrections: Vec<_> = parts
        .iter()
        .map(|parts| Correction { key: key(parts), limit: LIMIT, stamp: Stamp::ending_at(NOON), delta: 1 })
        .collect();
    let targets: Vec<_> = parts.iter().map(|parts| Target { key: key(parts), limit: LIMIT }).collect();
    let answers = [
        Take { charges: &charges, now: NOON }.check(),
        Settle { id: SettleId::new(1), corrections: &corrections, now: NOON }.check(),
        Forget { targets: &targets, now: NOON }.check(),
    ];
    let answers = answers.map(|answer| {
        answer.map_err(|error| {
            assert_eq!(error.kind(), StoreErrorKind::Misuse);
            error.to_string()
        })
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let [answer, ..] = answers;
    answer
}

#[test]
fn up_to_eight_keys_are_accepted() {
    let parts: Vec<_> = (0..9).map(Part::Number).collect();
    for count in 0..=MOST_CHARGES {
        assert_eq!(check(&parts[..count]), Ok(()), "{count}");
    }
    let refused = check(&parts).unwrap_err();
    assert!(refused.contains("more than 8") && refused.contains("use several calls"), "{refused}");
}

#[test]
fn a_key_twice_is_refused_wherever_it_stands() {
    let long = "x".repeat(300);
    let twice = [
        (Part::Text("a"), Part::Text("a")),
        (Part::Number(7), Part::Number(7)),
        (Part::Number(7), Part::Text("7")),
        (Part::Text(&long), Part::Text(&long)),
    ];
    for (one, other) in twice {
        for count in 2..=MOST_CHARGES {
            for first in 0..count {
                for second in first + 1..count {
                    let mut parts: Vec<_> = (100..).map(Part::Number).take(count).collect();
                    parts[first] = one;
                    parts[second] = other;
                    let refused = check(&parts).unwrap_err();
                    assert!(
                        refused.contains("one key twice") && refused.contains("add the costs up"),
                        "{refused}"
                    );
                    assert!(!refused.contains('7'), "{refused} names a key");
                }
            }
        }
    }
    assert_eq!(check(&[Part::Number(7), Part::Text("07")]), Ok(()));
}
