//! Two answers, field by field.

use std::fmt::Debug;

use tollgate_core::Decision;
use tollgate_store::{Decisions, StoreError};

/// What a store's answer to a take says otherwise than is owed: nothing if they are the same.
pub(crate) fn differences(
    got: &Result<Decisions, StoreError>,
    want: &Result<Decisions, StoreError>,
) -> Vec<String> {
    match (got, want) {
        (Ok(got), Ok(want)) => of_decisions(got, want),
        (Err(got), Err(want)) if got.kind() == want.kind() => Vec::new(),
        (Ok(got), Err(want)) => {
            vec![format!("the store decides {got:?}, it owes the error {:?}", want.kind())]
        }
        (Err(got), Ok(want)) => vec![format!("the store fails ({got}), it owes {want:?}")],
        (Err(got), Err(want)) => {
            vec![format!("the store fails ({got}), it owes the error {:?}", want.kind())]
        }
    }
}

fn of_decisions(got: &Decisions, want: &Decisions) -> Vec<String> {
    let mut differs = Differs(Vec::new());
    differs.field("whole take", "admitted", &got.is_admitted(), &want.is_admitted());
    differs.field("whole take", "decided_at", &got.decided_at(), &want.decided_at());
    differs.field("whole take", "verdict", &got.verdict(), &want.verdict());
    differs.field("whole take", "retry_at", &got.retry_at(), &want.retry_at());
    differs.field("whole take", "number of decisions", &got.len(), &want.len());
    for (at, (one, other)) in got.iter().zip(want).enumerate() {
        let place = format!("charge {at}");
        differs.field(&place, "is_enforced", &got.is_enforced(at), &want.is_enforced(at));
        differs.of_decision(&place, one, other);
    }
    if differs.0.is_empty() && got != want {
        differs.0.push(format!("the store says {got:?}, it owes {want:?}"));
    }
    differs.0
}

struct Differs(Vec<String>);

impl Differs {
    fn of_decision(&mut self, place: &str, got: &Decision, want: &Decision) {
        self.field(place, "verdict", &got.verdict(), &want.verdict());
        self.field(place, "quota", &got.quota(), &want.quota());
        self.field(place, "used", &got.used(), &want.used());
        self.field(place, "remaining", &got.remaining(), &want.remaining());
        self.field(place, "left", &got.left(), &want.left());
        self.field(place, "reset_at", &got.reset_at(), &want.reset_at());
        self.field(place, "retry_at", &got.retry_at(), &want.retry_at());
        self.field(place, "stamp", &got.stamp(), &want.stamp());
    }

    fn field<T: PartialEq + Debug>(&mut self, place: &str, name: &str, got: &T, want: &T) {
        if got != want {
            self.0.push(format!("{name} of the {place}: the store says {got:?}, it owes {want:?}"));
        }
    }
}
