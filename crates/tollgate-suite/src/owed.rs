//! Which answers every store owes, whatever it has dropped meanwhile.

use tollgate_core::{Limit, State, Timestamp, Units};

use crate::setting::before;

/// How long a window is; nothing for a bucket.
pub(crate) fn width(limit: &Limit) -> Option<u64> {
    match limit {
        Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => Some(window.ms()),
        Limit::TokenBucket { .. } => None,
    }
}

/// The start of the window that `at` lies in.
pub(crate) fn current(at: Timestamp, width: u64) -> Timestamp {
    before(at, at.unix_ms() % width)
}

/// The start of the window that something was counted in.
pub(crate) fn counted_in(state: Option<State>) -> Option<Timestamp> {
    match state? {
        State::Window { start, used, .. } if used > Units::ZERO => Some(start),
        State::Window { .. } | State::Bucket { .. } => None,
    }
}

/// Whether every store owes the same answer at `now`, when `newest` has been seen.
///
/// An idle state is no state: a store may have dropped at `newest` what would still count at an earlier `now`. So one
/// goes back within the current window; or beyond it, by no more than a window, where something was counted in the
/// current one, which then decides.
pub(crate) fn is_owed(limit: &Limit, state: Option<State>, newest: Timestamp, now: Timestamp) -> bool {
    match width(limit) {
        Some(width) => {
            let current = current(newest, width);
            now >= current || (now >= before(current, width) && counted_in(state) >= Some(current))
        }
        None => state.is_none_or(|state| limit.idle_at(&state) > newest),
    }
}
