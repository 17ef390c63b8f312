//! Faults of states, as they are read and as they are written.

use tollgate_core::{Limit, State, Timestamp, Units};
use tollgate_store::Charge;

use super::Fault;

/// The state as the faulty store sees it.
pub(super) fn state(
    fault: Option<Fault>,
    charge: &Charge<'_>,
    state: Option<State>,
    now: Timestamp,
) -> Option<State> {
    let (Some(fault), Some(found)) = (fault, state) else { return state };
    match (fault, found) {
        (Fault::NewerWindowIsIgnored, State::Window { start, .. }) if start > now => None,
        (Fault::RefillsAreInSeconds, State::Bucket { refilled_at, tokens }) => {
            let refilled_at = Timestamp::from_unix_ms(refilled_at.unix_ms() / 1_000 * 1_000);
            Some(State::Bucket { refilled_at, tokens })
        }
        (Fault::RefillsFollowTheClockBack, State::Bucket { refilled_at, tokens }) => {
            Some(State::Bucket { refilled_at: refilled_at.min(now), tokens })
        }
        (fault, _) => match charge.limit {
            Limit::SlidingWindow { window, .. } => {
                Some(weighed(fault, found, charge.limit.quota(), window.ms(), now.unix_ms()))
            }
            Limit::FixedWindow { .. } | Limit::TokenBucket { .. } => Some(found),
        },
    }
}

/// A window's state whose previous count weighs what the fault makes of it.
fn weighed(fault: Fault, found: State, quota: Units, width: u64, now: u64) -> State {
    let State::Window { start, end, used, before } = found else { return found };
    let (current, offset) = (now - now % width, now % width);
    let (count, offset) = if start.unix_ms() == current {
        (before.get(), offset)
    } else if end.unix_ms() == current {
        (used.get(), offset)
    } else {
        (before.get(), 0)
    };
    let (exact, share) = (u128::from(count) * u128::from(width - offset), width - offset);
    let right = exact.div_ceil(u128::from(width));
    let wrong = match fault {
        Fault::PreviousIsForgotten => 0,
        Fault::DebtEndsWithItsWindow => {
            (u128::from(count.min(quota.get())) * u128::from(share)).div_ceil(u128::from(width))
        }
        Fault::WeightIsRoundedDown => exact / u128::from(width),
        Fault::WeightIsRoundedToNearest => (exact + u128::from(width) / 2) / u128::from(width),
        Fault::WeightIsAFloatOfTheShare => ceil(count as f64 * (share as f64 / width as f64)),
        Fault::WeightIsAFloat => ceil(count as f64 * share as f64 / width as f64),
        _ => right,
    };
    if wrong == right {
        return found;
    }
    let count = wrong * u128::from(width) / u128::from(share);
    let count = Units::saturating(u64::try_from(count).unwrap_or(u64::MAX));
    if end.unix_ms() == current {
        State::Window { start, end, used: count, before }
    } else {
        State::Window { start, end, used, before: count }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a weight is no negative number")]
fn ceil(weight: f64) -> u128 {
    weight.ceil() as u128
}

/// What is to be written, without what the faulty eyes made of the previous count.
pub(super) fn restored(seen: Option<State>, found: Option<State>, written: Option<State>) -> Option<State> {
    if written == seen {
        return found;
    }
    match (seen, found, written) {
        (
            Some(State::Window { start: seen_start, .. }),
            Some(State::Window { used: true_used, before: true_before, .. }),
            Some(State::Window { start, end, used, before }),
        ) if before > Units::ZERO || true_before > Units::ZERO || true_used > Units::ZERO => {
            let before = if seen_start == start {
                true_before
            } else if seen_start.saturating_add_ms(end.unix_ms() - start.unix_ms()) == start {
                true_used
            } else {
                before
            };
            Some(State::Window { start, end, used, before })
        }
        _ => written,
    }
}

/// The state as the faulty store writes it.
pub(super) fn written(
    fault: Option<Fault>,
    charge: &Charge<'_>,
    found: Option<State>,
    state: State,
    credit: i64,
) -> State {
    let mut state = state;
    let quota = charge.limit.quota();
    match (&mut state, fault) {
        (State::Window { used, .. }, Some(Fault::CountsAreCutTo32Bits)) => {
            *used = Units::saturating(used.get() % (1 << 32));
        }
        (State::Window { used, .. }, Some(Fault::LargestCountStartsOver)) if *used == Units::MAX => {
            *used = Units::ZERO;
        }
        (State::Window { used, .. }, Some(Fault::CountStopsAtTheQuota)) => *used = (*used).min(quota),
        (State::Window { used, .. }, Some(Fault::RefundIsACredit)) => {
            *used = Units::saturating(used.get().saturating_sub(credit.unsigned_abs()));
        }
        (State::Bucket { tokens, .. }, Some(Fault::RefundIsACredit)) => *tokens += credit,
        (State::Bucket { tokens, .. }, Some(Fault::DebtIsForgotten | Fault::CountStopsAtTheQuota)) => {
            *tokens = (*tokens).max(0);
        }
        (State::Bucket { refilled_at, .. }, Some(Fault::FullBucketKeepsItsPhase)) => {
            if let (Some(State::Bucket { refilled_at: old, .. }), Limit::TokenBucket { interval, .. }) =
                (found, charge.limit)
            {
                let phase = refilled_at.unix_ms().saturating_sub(old.unix_ms()) % interval.ms();
                *refilled_at = Timestamp::from_unix_ms(refilled_at.unix_ms() - phase);
            }
        }
        _ => {}
    }
    state
}
