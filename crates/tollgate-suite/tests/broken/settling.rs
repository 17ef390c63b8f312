//! Faults of settlements.

use tollgate_core::{Charging, Limit, Stamp, State, Timestamp, Units};
use tollgate_store::Correction;

use super::{Fault, Kept, keys};

pub(super) fn settle(fault: Option<Fault>, kept: &mut Kept, correction: &Correction<'_>, now: Timestamp) {
    let Correction { key, limit, mut stamp, mut delta } = *correction;
    let name = keys::name(fault, &key);
    let mut found = kept.states.get(&name).copied();
    match fault {
        Some(Fault::SettleDoesNothing) => return,
        Some(Fault::SettleTakesOnly) => delta = delta.max(0),
        Some(Fault::SettleIsInTheCurrentWindow) => {
            if let Some(State::Window { end, .. }) = found {
                stamp = Stamp::ending_at(end);
            }
        }
        Some(Fault::SettleIsInTheCurrentWindowOnly) if stamp.window_end() <= now => return,
        Some(Fault::SettleForgetsWhatIsOver) => {
            if let Some(State::Window { start, used, before, .. }) = &mut found
                && *start == stamp.window_end()
                && *before > Units::ZERO
            {
                // Takes the correction from the window that it can see.
                *used = Units::saturating(used.get().saturating_add_signed(delta.clamp(-1 << 53, 1 << 53)));
            }
        }
        Some(Fault::SettleForgivesAFullBucket) if found.is_some_and(|found| now >= limit.idle_at(&found)) => {
            return;
        }
        Some(Fault::SettleForgivesAMissingBucket) if found.is_none() => return,
        Some(Fault::SettleCreatesKeys) if found.is_none() => {
            let step = limit.step(None, Units::saturating(delta.unsigned_abs()), now, Charging::Always, true);
            found = step.state;
            delta = 0;
        }
        Some(Fault::SettleRevivesZero) => {
            if let Some(State::Window { end, used, .. }) = &mut found
                && *end == stamp.window_end()
                && *used == Units::ZERO
            {
                *used = Units::saturating(delta.max(0).unsigned_abs());
                delta = 0;
            }
        }
        _ => {}
    }
    let Some(settled) = limit.settle(found, stamp, delta, now) else { return };
    if fault == Some(Fault::RefundIsACredit)
        && let Some(credit) = credit(&limit, found, delta)
    {
        kept.credit.insert(name.clone(), credit);
    }
    let settled = match (settled, fault) {
        (State::Window { start, end, used, before }, Some(Fault::SettleStopsAtTheQuota)) => {
            State::Window { start, end, used: used.min(limit.quota()), before }
        }
        (State::Bucket { refilled_at, tokens }, Some(Fault::SettleStopsAtTheQuota)) => {
            State::Bucket { refilled_at, tokens: tokens.max(0) }
        }
        (settled, _) => settled,
    };
    kept.states.insert(name, settled);
}

/// What comes back beyond what was counted.
fn credit(limit: &Limit, found: Option<State>, delta: i64) -> Option<i64> {
    let counted = match (found?, limit) {
        (State::Window { used, .. }, _) => used.get(),
        (State::Bucket { tokens, .. }, _) => limit.quota().get().saturating_add_signed(-tokens),
    };
    let beyond = delta.checked_neg()?.checked_sub(i64::try_from(counted).ok()?)?;
    (beyond > 0).then_some(beyond)
}
