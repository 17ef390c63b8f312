//! Fixed and sliding windows: two counters, exact integers.

use core::cmp::Ordering;

use crate::{Charging, ClockBehind, Decision, Stamp, State, Step, Timestamp, Units, Verdict, Window};

/// A limit that counts in windows aligned to the epoch.
pub(crate) struct Windows {
    pub(crate) kind: Kind,
    pub(crate) quota: Units,
    pub(crate) window: Window,
}

/// Whether the previous window still weighs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fixed,
    Sliding,
}

/// The counters as they stand at the instant that decides.
#[derive(Clone, Copy)]
struct Counters {
    /// When the window of that instant began.
    start: u64,
    /// How far into it the instant lies: less than the width.
    offset: u64,
    used: Units,
    before: Units,
}

impl Windows {
    #[inline]
    pub(crate) fn step(
        &self,
        state: Option<State>,
        cost: Units,
        now: Timestamp,
        charging: Charging,
        admitted: bool,
    ) -> Step {
        let mut counters = self.counters(state, now);
        let weight = self.weight(counters);
        let fits = self.admits(weight, counters.used, cost);
        let writes = cost.get() > 0 && charging.writes(fits, admitted);
        if writes {
            counters.used = Units::saturating(counters.used.get() + cost.get());
        }
        let start = Timestamp::from_unix_ms(counters.start);
        let end = start.saturating_add_ms(self.window.ms());
        let verdict =
            if fits { Verdict::Allow } else { Verdict::Deny { retry_at: self.retry_at(counters, cost) } };
        let left = self.left(weight, counters.used);
        let state = if writes {
            Some(State::Window { start, end, used: counters.used, before: counters.before })
        } else {
            state
        };
        Step { decision: Decision { verdict, quota: self.quota, left, reset_at: end }, state }
    }

    #[inline]
    pub(crate) fn fits(&self, state: Option<State>, cost: Units, now: Timestamp) -> bool {
        let counters = self.counters(state, now);
        self.admits(self.weight(counters), counters.used, cost)
    }

    pub(crate) fn settle(&self, state: State, stamp: Stamp, delta: i64) -> State {
        let State::Window { start, end, mut used, mut before } = state else {
            return state;
        };
        if !self.is_own(start, end) {
            return state;
        }
        // A counter of 0 counts as missing: it may have been forgotten already, so it is not brought back.
        if stamp.window_end() == end && used > Units::ZERO {
            used = Units::clamped(used.signed().saturating_add(delta));
        } else if stamp.window_end() == start && before > Units::ZERO {
            before = Units::clamped(before.signed().saturating_add(delta));
        }
        State::Window { start, end, used, before }
    }

    #[inline]
    pub(crate) fn idle_at(&self, state: &State) -> Timestamp {
        match *state {
            State::Window { start, end, used, before } if self.is_own(start, end) => match self.kind {
                Kind::Sliding if used > Units::ZERO => end.saturating_add_ms(self.window.ms()),
                Kind::Sliding if before > Units::ZERO => end,
                Kind::Fixed if used > Units::ZERO => end,
                Kind::Fixed | Kind::Sliding => start,
            },
            State::Window { .. } | State::Bucket { .. } => Timestamp::EPOCH,
        }
    }

    #[inline]
    pub(crate) fn check_clock(&self, state: &State, now: Timestamp) -> Result<(), ClockBehind> {
        match *state {
            State::Window { start, end, .. } if self.is_own(start, end) => {
                let earliest = start.unix_ms().saturating_sub(self.window.ms());
                if now.inside() < earliest { Err(ClockBehind { by: start.since(now) }) } else { Ok(()) }
            }
            State::Window { .. } | State::Bucket { .. } => Ok(()),
        }
    }

    /// Whether a window with these ends is one of this limit's: its width, and aligned.
    #[inline]
    fn is_own(&self, start: Timestamp, end: Timestamp) -> bool {
        start.unix_ms().is_multiple_of(self.window.ms()) && end == start.saturating_add_ms(self.window.ms())
    }

    /// What the state says at `now`; where a machine with a later clock has been, at the start of its window.
    #[inline]
    fn counters(&self, state: Option<State>, now: Timestamp) -> Counters {
        let now = now.inside();
        let offset = now % self.window.ms();
        let current = now - offset;
        let fresh = Counters { start: current, offset, used: Units::ZERO, before: Units::ZERO };
        let Some(State::Window { start, end, used, before }) = state else {
            return fresh;
        };
        if !self.is_own(start, end) {
            return fresh;
        }
        let start = start.unix_ms();
        match start.cmp(&current) {
            Ordering::Equal => Counters { used, before, ..fresh },
            Ordering::Greater => Counters { start, offset: 0, used, before },
            Ordering::Less if start + self.window.ms() == current => Counters { before: used, ..fresh },
            Ordering::Less => fresh,
        }
    }

    /// What the previous window still weighs, in units: `⌈before·(W−x)/W⌉`.
    ///
    /// For an integer quota the exact test `before·(W−x) + (used+cost)·W ≤ quota·W` is the same as
    /// `⌈before·(W−x)/W⌉ + used + cost ≤ quota`, so the rounded value loses nothing.
    #[inline]
    fn weight(&self, counters: Counters) -> u64 {
        if self.kind == Kind::Fixed || counters.before == Units::ZERO {
            return 0;
        }
        let (before, width) = (counters.before.get(), self.window.ms());
        let share = width - counters.offset;
        match before.checked_mul(share) {
            Some(product) => product.div_ceil(width),
            None => narrow((u128::from(before) * u128::from(share)).div_ceil(u128::from(width))),
        }
    }

    /// Compares by subtraction: sums of three amounts could pass what Lua's numbers hold.
    #[inline]
    fn admits(&self, weight: u64, used: Units, cost: Units) -> bool {
        self.quota > Units::ZERO && cost.signed() <= self.left(weight, used)
    }

    #[inline]
    fn left(&self, weight: u64, used: Units) -> i64 {
        // Each of the three is below 2^53.
        self.quota.signed() - Units::saturating(weight).signed() - used.signed()
    }

    /// The first instant at which `cost` fits, if nothing else is spent: where the weight has fallen to what is free.
    fn retry_at(&self, counters: Counters, cost: Units) -> Option<Timestamp> {
        let quota = self.quota.get();
        if quota == 0 || cost.get() > quota {
            return None;
        }
        let width = self.window.ms();
        let at = |start: u64, offset: u64| Timestamp::from_unix_ms(start.saturating_add(offset));
        let next = counters.start.saturating_add(width);
        if self.kind == Kind::Fixed {
            return Some(at(next, 0));
        }
        let spent = counters.used.get() + cost.get();
        Some(if spent <= quota {
            at(counters.start, width - share_within(quota - spent, counters.before.get(), width))
        } else {
            at(next, width - share_within(quota - cost.get(), counters.used.get(), width))
        })
    }
}

/// The largest share of a window, in milliseconds, in which `before` units weigh at most `free`: `⌊free·W/before⌋`.
fn share_within(free: u64, before: u64, width: u64) -> u64 {
    if free >= before {
        return width;
    }
    match free.checked_mul(width) {
        Some(product) => product / before,
        None => narrow(u128::from(free) * u128::from(width) / u128::from(before)),
    }
}

/// A quotient that fits: a share of `before` or of the width is at most that.
fn narrow(quotient: u128) -> u64 {
    u64::try_from(quotient).unwrap_or(u64::MAX)
}
