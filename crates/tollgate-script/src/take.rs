//! Charges on their way to the script, and the states it found on their way back.

use std::{ops::RangeInclusive, str::Split};

use tollgate_core::{Charging, Limit, State, Timestamp, Units, Window};
use tollgate_store::{Charge, Decisions, MOST_CHARGES, StoreError, StoreErrorKind, Take};

use crate::{
    Call, Prefix, Replay, Reply, Script, Words,
    number::{SLACK_MS, inside},
    reply::garbage,
};

/// The call that takes these charges. With a `replay` it may be sent again and is counted once.
///
/// # Errors
/// [`StoreErrorKind::Misuse`] as [`Take::check`].
pub fn take_call(prefix: &Prefix, take: &Take<'_>, replay: Option<Replay>) -> Result<Call, StoreError> {
    take.check()?;
    let now = inside(take.now);
    let count = take.charges.len();
    let mut keys = Words::with_capacity(4 * count + 1, KEY_BYTES * (4 * count + 1));
    let mut args = Words::with_capacity(6 * count + 2, ARG_BYTES * (6 * count + 2));
    if let Some(replay) = replay {
        replay.add_args(&mut args);
    }
    for charge in take.charges {
        args.push(how(charge));
        args.push_number(charge.cost.get());
        args.push_number(charge.limit.quota().get());
        match charge.limit {
            Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => {
                prefix.windows(&charge.key, now / window.ms(), places(&charge.limit), &mut keys);
                args.push_number(window.ms());
                args.push_number(lives_ms(&charge.limit, window, now));
            }
            Limit::TokenBucket { refill, interval, .. } => {
                prefix.bucket(&charge.key, &mut keys);
                args.push_number(interval.ms());
                args.push_number(refill.get());
                args.push_number(now);
            }
        }
    }
    if let Some(replay) = replay {
        replay.add_key(prefix, &mut keys, &args);
    }
    Ok(Call { script: Script::Take, keys, args })
}

/// What a key and an argument seldom exceed.
const KEY_BYTES: usize = 64;
const ARG_BYTES: usize = 12;

/// The kind, the charging and the vote in three letters.
const fn how(charge: &Charge<'_>) -> &'static str {
    let [if_allowed, always, never] = match (charge.limit, charge.enforce) {
        (Limit::FixedWindow { .. }, true) => ["fiv", "fav", "fnv"],
        (Limit::FixedWindow { .. }, false) => ["fi-", "fa-", "fn-"],
        (Limit::SlidingWindow { .. }, true) => ["siv", "sav", "snv"],
        (Limit::SlidingWindow { .. }, false) => ["si-", "sa-", "sn-"],
        (Limit::TokenBucket { .. }, true) => ["biv", "bav", "bnv"],
        (Limit::TokenBucket { .. }, false) => ["bi-", "ba-", "bn-"],
    };
    match charge.charging {
        Charging::IfAllowed => if_allowed,
        Charging::Always => always,
        Charging::Never => never,
    }
}

/// How long the counter of the current window lives: until [`Limit::idle_at`], which is when it no longer weighs, and a little
/// longer.
const fn lives_ms(limit: &Limit, window: Window, now: u64) -> u64 {
    let windows = if matches!(limit, Limit::SlidingWindow { .. }) { 2 } else { 1 };
    windows * window.ms() - now % window.ms() + SLACK_MS
}

/// The windows that a limit looks at, counted from the one that `now` lies in: what still weighs, and what clocks that are ahead
/// have written.
pub(crate) fn places(limit: &Limit) -> RangeInclusive<i64> {
    match limit {
        Limit::FixedWindow { .. } => 0..=2,
        Limit::SlidingWindow { .. } | Limit::TokenBucket { .. } => -1..=2,
    }
}

/// The decisions that a server's answer to the call of `take` comes to: the core's, on the states that the script found.
///
/// # Errors
/// - [`StoreErrorKind::ClockBehind`] if the take's time is more than one window behind what is stored; nothing was written then.
/// - [`StoreErrorKind::Garbage`] if the answer is not one of the script's.
/// - [`StoreErrorKind::Disagree`] if the script decided otherwise than the core does on the same states: a fault of this library,
///   or another script answered.
pub fn take_answer(take: &Take<'_>, reply: &Reply) -> Result<Decisions, StoreError> {
    let Reply::Text(reply) = reply else { return Err(garbage("the answer to a take is no text")) };
    let now = inside(take.now);
    let mut words = Found(reply.split(' '));
    let verdict = words.number()?;
    let mut found = [None; MOST_CHARGES];
    for (charge, found) in take.charges.iter().zip(&mut found) {
        *found = words.state(charge, now)?;
    }
    if words.0.next().is_some() {
        return Err(garbage("the answer to a take speaks of more charges than were sent"));
    }
    let decided = Decisions::decide(take, found.into_iter().take(take.charges.len()), |_, _| ());
    let by_core = match &decided {
        // The lowest bit is the take's, the others the charges' in their order.
        Ok(decisions) => {
            decisions.iter().zip(1..).fold(i64::from(decisions.is_admitted()), |bits, (decision, at)| {
                bits | i64::from(decision.is_allowed()) << at
            })
        }
        Err(error) if error.kind() == StoreErrorKind::ClockBehind => BEHIND,
        Err(_) => return decided,
    };
    if verdict == by_core { decided } else { Err(disagree()) }
}

/// What the script says instead of a verdict when the clock is behind.
const BEHIND: i64 = -1;

#[cold]
fn disagree() -> StoreError {
    StoreError::new(
        StoreErrorKind::Disagree,
        "the script decided otherwise than the core: use one version of this library's crates, and report it if you do",
    )
}

/// The words of an answer: a verdict, then for each charge the place of the newest count and two figures.
struct Found<'a>(Split<'a, char>);

impl Found<'_> {
    fn number(&mut self) -> Result<i64, StoreError> {
        self.optional()?.ok_or_else(|| garbage("a number in the answer to a take is missing"))
    }

    /// A number, or nothing where it says `-`.
    fn optional(&mut self) -> Result<Option<i64>, StoreError> {
        let word = self.0.next();
        let word =
            word.ok_or_else(|| garbage("the answer to a take speaks of fewer charges than were sent"))?;
        if word == "-" {
            return Ok(None);
        }
        let is_plain = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let number = word.parse().ok().filter(|_| is_plain);
        number.map(Some).ok_or_else(|| garbage("a number in the answer to a take is none"))
    }

    fn units(&mut self) -> Result<Units, StoreError> {
        let units = u64::try_from(self.number()?).ok().and_then(|units| Units::try_new(units).ok());
        units.ok_or_else(|| garbage("a count in the answer to a take is out of range"))
    }

    fn state(&mut self, charge: &Charge<'_>, now: u64) -> Result<Option<State>, StoreError> {
        let place = self.optional()?;
        match charge.limit {
            Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => {
                let (used, before) = (self.units()?, self.units()?);
                let Some(place) = place else { return Ok(None) };
                if !places(&charge.limit).contains(&place) {
                    return Err(garbage("a window in the answer to a take was not asked for"));
                }
                let current = now / window.ms();
                // The window before the first one is none: nothing was ever counted there.
                let Some(number) = current.checked_add_signed(place) else { return Ok(None) };
                let start = Timestamp::from_unix_ms(number * window.ms());
                Ok(Some(State::Window { start, end: start.saturating_add_ms(window.ms()), used, before }))
            }
            Limit::TokenBucket { .. } => {
                let (refilled_at, tokens) = (self.units()?.get(), self.number()?);
                match place {
                    None => Ok(None),
                    Some(0) if tokens.unsigned_abs() <= Units::MAX.get() => {
                        Ok(Some(State::Bucket { refilled_at: Timestamp::from_unix_ms(refilled_at), tokens }))
                    }
                    Some(_) => Err(garbage("a bucket in the answer to a take is out of range")),
                }
            }
        }
    }
}
