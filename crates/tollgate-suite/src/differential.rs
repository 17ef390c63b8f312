//! Random histories, answered by a store and by the core.

use std::ops::Range;

use tollgate_store::{Charge, Decisions, Forget, MOST_CHARGES, Settle, Store, StoreError, Take};

use crate::{
    Failure, Reference, Setting,
    compare::differences,
    history::{History, Planned, Step},
};

const NAME: &str = "random_histories_are_answered_as_the_core_does";

/// The seeds of the histories that [`certify!`](crate::certify) runs: always the same, so that it finds what it found
/// before.
pub const SEEDS: Range<u64> = 0..4;

/// How many steps each of them has.
pub const STEPS: u32 = 1_500;

/// Lets a random history happen to a store and to the [`Reference`], and demands the same answers, field by field.
///
/// The history follows from `seed`: takes of all algorithms, of one to eight charges, in every charging, with
/// shadows, costs of zero and above the quota, quotas that change; settlements of what was taken, sent once, twice
/// and late, by more than was charged and for keys that are gone; keys that are forgotten; misuse; times at the edges
/// of windows and at the instants that refusals named, one millisecond beside them, and behind what was already
/// counted, by up to a window and by more.
///
/// Nothing in it hangs on a state that is idle, since a store may have dropped that; nor on a key's algorithm or
/// window being changed. Its 24 keys are of this `seed` and run alone, so a store can answer each once, and wants to
/// be new to it.
///
/// # Errors
/// At the first step that is answered otherwise. The failure names the seed, the step and what differed.
pub async fn differential(
    store: &dyn Store,
    setting: &Setting,
    seed: u64,
    steps: u32,
) -> Result<(), Failure> {
    let mut history = History::new(setting, seed);
    let model = Reference::new();
    for number in 0..steps {
        let step = history.next(&model);
        let differs = happen(store, &model, &mut history, &step).await;
        if !differs.is_empty() {
            let differs = differs.join("\n    ");
            return Err(Failure::new(
                NAME,
                format!("seed {seed}, step {number}:\n    {differs}\n    in {step:?}"),
            ));
        }
    }
    // Some of the keys would stay on a server for years.
    for targets in history.targets().chunks(MOST_CHARGES) {
        let forget = Forget { targets, now: history.newest() };
        if let Some(failed) = failed(&store.forget(forget).await) {
            return Err(Failure::new(NAME, format!("seed {seed}, at the end: {failed}")));
        }
    }
    Ok(())
}

/// Lets one step happen to both, and says what differed then.
async fn happen(store: &dyn Store, model: &Reference, history: &mut History, step: &Step) -> Vec<String> {
    let mut differs = Vec::new();
    match step {
        Step::Take { charges, now, at_once } => {
            let asked: Vec<_> = charges.iter().map(|planned| history.charge(planned)).collect();
            let take = Take { charges: &asked, now: *now };
            let got = answer(store, take, *at_once).await;
            let want = answer(model, take, true).await;
            differs.extend(differences(&got, &want));
            if let Ok(decisions) = &want {
                history.note(charges, decisions);
                return differs;
            }
        }
        Step::Settle(settlement) => {
            let corrections: Vec<_> =
                settlement.corrections.iter().map(|(made, delta)| history.correction(made, *delta)).collect();
            let settle = Settle { id: settlement.id, corrections: &corrections, now: settlement.now };
            differs.extend(failed(&store.settle(settle).await));
            differs.extend(failed(&model.settle(settle).await));
        }
        Step::Forget { targets, now } => {
            let targets: Vec<_> = targets.iter().map(|(key, limit)| history.target(*key, *limit)).collect();
            let forget = Forget { targets: &targets, now: *now };
            differs.extend(failed(&store.forget(forget).await));
            differs.extend(failed(&model.forget(forget).await));
        }
    }
    // Whatever answered with no figures has its keys looked at, at once rather than when one comes up again.
    for looks in history.looks(step).chunks(MOST_CHARGES) {
        let looks: Vec<Charge<'_>> = looks.iter().map(|planned: &Planned| history.charge(planned)).collect();
        let look = Take { charges: &looks, now: history.newest() };
        let seen = differences(&answer(store, look, false).await, &answer(model, look, true).await);
        differs.extend(seen.into_iter().map(|differs| format!("afterwards, {differs}")));
    }
    differs
}

/// Through either door: a take that is answered at once is the take.
async fn answer(store: &dyn Store, take: Take<'_>, at_once: bool) -> Result<Decisions, StoreError> {
    if at_once && let Some(answer) = store.take_now(&take) {
        return answer;
    }
    store.take(take).await
}

fn failed(answer: &Result<(), StoreError>) -> Option<String> {
    answer.as_ref().err().map(|error| format!("the store fails: {error}"))
}
