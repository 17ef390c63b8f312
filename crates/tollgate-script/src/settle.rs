//! Corrections on their way to the script.

use tollgate_core::{Limit, Timestamp, Units, Window};
use tollgate_store::{Correction, Settle, StoreError};

use crate::{
    Call, Prefix, Reply, Script,
    number::{inside, signed, text},
    reply::garbage,
};

/// The call that applies these corrections, once for its id: it may be sent again at any time.
///
/// The id is remembered until nothing that it corrects can count any more.
///
/// # Errors
/// [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse) as [`Settle::check`].
pub fn settle_call(prefix: &Prefix, settle: &Settle<'_>) -> Result<Call, StoreError> {
    settle.check()?;
    let now = inside(settle.now);
    let mut keys = vec![prefix.own("settle", &format!("{:032x}", settle.id.bits()))];
    let corrections = || settle.corrections.iter().filter(|correction| start(correction).is_some());
    for correction in corrections() {
        if let (Some(window), Some(start)) = (width(&correction.limit), start(correction)) {
            prefix.windows(&correction.key, start / window.ms(), 0..=0, &mut keys);
        }
    }
    let windows = keys.len() as u64 - 1;
    let until = corrections().map(|correction| counts_until(correction, now)).max();
    let keep_ms = until.unwrap_or(Timestamp::EPOCH).unix_ms().saturating_sub(now) + SLACK_MS;
    let mut args = vec![text(now), text(windows), text(keep_ms)];
    for correction in corrections() {
        if width(&correction.limit).is_none() {
            keys.push(prefix.key(&correction.key));
        }
        args.extend(arguments(correction));
    }
    Ok(Call { script: Script::Settle, keys, args })
}

/// What a key outlives its use by: room for clocks that step back a little.
const SLACK_MS: u64 = 1_000;

fn arguments(correction: &Correction<'_>) -> [String; 6] {
    // Two amounts, since the refund of a debt can be twice what a number of Lua holds; a third would change nothing.
    let most = Units::MAX.get().cast_signed();
    let first = correction.delta.clamp(-most, most);
    let second = (correction.delta - first).clamp(-most, most);
    let started = start(correction).unwrap_or_default();
    let (kind, quota, width, last) = match correction.limit {
        Limit::FixedWindow { quota, window } => ("f", quota, window, started),
        Limit::SlidingWindow { quota, window } => ("s", quota, window, started),
        Limit::TokenBucket { capacity, refill, interval } => ("b", capacity, interval, refill.get()),
    };
    [kind.into(), signed(first), signed(second), text(quota.get()), text(width.ms()), text(last)]
}

const fn width(limit: &Limit) -> Option<Window> {
    match *limit {
        Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => Some(window),
        Limit::TokenBucket { .. } => None,
    }
}

/// When the window that is corrected began; nothing if its stamp names none of this limit's, where nothing was ever counted.
/// Buckets have no windows, and the epoch does for them.
fn start(correction: &Correction<'_>) -> Option<u64> {
    let Some(window) = width(&correction.limit) else { return Some(0) };
    let end = correction.stamp.window_end();
    let last = end.unix_ms().checked_sub(1)?;
    let start = last - last % window.ms();
    (Timestamp::from_unix_ms(start).saturating_add_ms(window.ms()) == end).then_some(start)
}

/// When a correction no longer changes anything that counts.
fn counts_until(correction: &Correction<'_>, now: u64) -> Timestamp {
    let end = correction.stamp.window_end();
    match correction.limit {
        Limit::FixedWindow { .. } => end,
        Limit::SlidingWindow { window, .. } => end.saturating_add_ms(window.ms()),
        // A bucket has no windows: by then what was taken out before the correction is back.
        Limit::TokenBucket { .. } => {
            Timestamp::from_unix_ms(now).saturating_add_ms(correction.limit.period().ms())
        }
    }
}

/// Reads a server's answer to the call of a settlement.
///
/// # Errors
/// [`StoreErrorKind::Garbage`](tollgate_store::StoreErrorKind::Garbage) if it is not one of the script's.
pub fn settle_answer(reply: &Reply) -> Result<(), StoreError> {
    match reply {
        // Applied now, or before.
        Reply::Int(0 | 1) => Ok(()),
        _ => Err(garbage("the answer to a settlement is not 0 or 1")),
    }
}
