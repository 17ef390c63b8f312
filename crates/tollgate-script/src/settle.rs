//! Corrections on their way to the script.

use tollgate_core::{Limit, Timestamp, Units};
use tollgate_store::{Correction, Settle, StoreError};

use crate::{
    Call, Prefix, Reply, Script, Words,
    number::{SLACK_MS, inside},
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
    // What names no window that there can be was never counted.
    let corrections =
        || settle.corrections.iter().filter_map(|correction| Some((correction, start(correction)?)));
    let until = corrections()
        .map(|(correction, _)| correction.counts_until(Timestamp::from_unix_ms(now)).unix_ms())
        .fold(now, u64::max);
    let (mut keys, mut args) = (Words::default(), Words::default());
    prefix.own("settle", format_args!("{:032x}", settle.id.bits()), &mut keys);
    args.push_number(now);
    args.push_number(until - now + SLACK_MS);
    for (correction, start) in corrections() {
        let [first, second] = parts(correction.delta);
        let kind = match correction.limit {
            Limit::FixedWindow { .. } => "f",
            Limit::SlidingWindow { .. } => "s",
            Limit::TokenBucket { .. } => "b",
        };
        args.push(kind);
        args.push_number(first);
        args.push_number(second);
        match correction.limit {
            Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => {
                prefix.windows(&correction.key, start / window.ms(), 0..=0, &mut keys);
                args.push_number(window.ms());
                args.push_number(start);
            }
            Limit::TokenBucket { capacity, refill, interval } => {
                prefix.bucket(&correction.key, &mut keys);
                args.push_number(interval.ms());
                args.push_number(refill.get());
                args.push_number(capacity.get());
            }
        }
    }
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
