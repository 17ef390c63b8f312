//! Corrections on their way to the script.

use tollgate_core::{Limit, Timestamp, Units};
use tollgate_store::{Correction, Settle, StoreError};

use crate::{
    Call, Prefix, Reply, Script,
    number::{SLACK_MS, inside, signed, text},
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
    let mut args = Vec::with_capacity(2 + 6 * settle.corrections.len());
    let mut until = now;
    args.push(text(now));
    args.push(String::new());
    for correction in settle.corrections {
        let Some(start) = start(correction) else { continue };
        until = until.max(counts_until(correction, now));
        let [first, second] = parts(correction.delta);
        let kind = match correction.limit {
            Limit::FixedWindow { .. } => "f",
            Limit::SlidingWindow { .. } => "s",
            Limit::TokenBucket { .. } => "b",
        };
        args.extend([kind.to_owned(), signed(first), signed(second)]);
        match correction.limit {
            Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => {
                prefix.windows(&correction.key, start / window.ms(), 0..=0, &mut keys);
                args.extend([text(window.ms()), text(start)]);
            }
            Limit::TokenBucket { capacity, refill, interval } => {
                keys.push(prefix.key(&correction.key));
                args.extend([text(interval.ms()), text(refill.get()), text(capacity.get())]);
            }
        }
    }
    args[1] = text(until - now + SLACK_MS);
    Ok(Call { script: Script::Settle, keys, args })
}

/// An amount in two, since the refund of a debt can be twice what a number of Lua holds; a third part would change nothing.
fn parts(delta: i64) -> [i64; 2] {
    let most = Units::MAX.get().cast_signed();
    let first = delta.clamp(-most, most);
    [first, (delta - first).clamp(-most, most)]
}

/// When the window that is corrected began; nothing if the stamp names none of this limit's, where nothing was ever counted.
/// Buckets have no windows, and the epoch does for them.
fn start(correction: &Correction<'_>) -> Option<u64> {
    let (Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. }) = correction.limit else {
        return Some(0);
    };
    let end = correction.stamp.window_end();
    let last = end.unix_ms().checked_sub(1)?;
    let start = last - last % window.ms();
    (Timestamp::from_unix_ms(start).saturating_add_ms(window.ms()) == end).then_some(start)
}

/// When a correction no longer changes anything that counts.
fn counts_until(correction: &Correction<'_>, now: u64) -> u64 {
    let end = correction.stamp.window_end();
    let until = match correction.limit {
        Limit::FixedWindow { .. } => end,
        Limit::SlidingWindow { window, .. } => end.saturating_add_ms(window.ms()),
        // A bucket has no windows: by then what was taken out before the correction is back.
        Limit::TokenBucket { .. } => {
            Timestamp::from_unix_ms(now).saturating_add_ms(correction.limit.period().ms())
        }
    };
    until.unix_ms()
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
