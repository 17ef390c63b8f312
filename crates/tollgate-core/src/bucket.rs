//! Token buckets: whole refills, and debt where more was charged than was there.

use crate::{Charging, Decision, State, Step, Timestamp, Units, Verdict, Window};

/// A limit that is refilled step by step.
pub(crate) struct Bucket {
    pub(crate) capacity: Units,
    pub(crate) refill: Units,
    pub(crate) interval: Window,
}

/// The contents at the instant that decides, every whole refill until then added.
#[derive(Clone, Copy)]
struct Contents {
    refilled_at: Timestamp,
    tokens: i64,
}

/// The deepest debt a bucket remembers.
const DEEPEST: i64 = -Units::MAX.signed();

impl Bucket {
    #[inline]
    pub(crate) fn step(
        &self,
        state: Option<State>,
        cost: Units,
        now: Timestamp,
        charging: Charging,
        admitted: bool,
    ) -> Step {
        let mut contents = self.contents(state, now);
        let fits = self.admits(contents, cost);
        let writes = cost.get() > 0 && charging.writes(fits, admitted);
        if writes {
            contents.tokens = (contents.tokens - cost.signed()).max(DEEPEST);
        }
        let verdict =
            if fits { Verdict::Allow } else { Verdict::Deny { retry_at: self.retry_at(contents, cost) } };
        let reset_at = contents.refilled_at.saturating_add_ms(self.interval.ms());
        let state = if writes {
            Some(State::Bucket { refilled_at: contents.refilled_at, tokens: contents.tokens })
        } else {
            state
        };
        Step { decision: Decision { verdict, quota: self.capacity, left: contents.tokens, reset_at }, state }
    }

    #[inline]
    pub(crate) fn fits(&self, state: Option<State>, cost: Units, now: Timestamp) -> bool {
        self.admits(self.contents(state, now), cost)
    }

    pub(crate) fn settle(&self, state: Option<State>, delta: i64, now: Timestamp) -> Option<State> {
        let now = Timestamp::from_unix_ms(now.inside());
        let is_idle = match &state {
            Some(bucket @ State::Bucket { .. }) => now >= self.idle_at(bucket),
            Some(State::Window { .. }) | None => true,
        };
        // There is no room for a refund in a full bucket. What was used beyond the estimate is owed all the same: the refills gave
        // back what was taken, and knew nothing of it.
        if is_idle && delta <= 0 {
            return state;
        }
        let contents = self.contents(state, now);
        let tokens = contents.tokens.saturating_sub(delta).max(DEEPEST);
        Some(if tokens < self.capacity.signed() {
            State::Bucket { refilled_at: contents.refilled_at, tokens }
        } else {
            State::Bucket { refilled_at: now.max(contents.refilled_at), tokens: self.capacity.signed() }
        })
    }

    #[inline]
    pub(crate) fn idle_at(&self, state: &State) -> Timestamp {
        match *state {
            State::Bucket { refilled_at, tokens } => {
                self.holds_at(refilled_at, tokens.max(DEEPEST), self.capacity.signed())
            }
            State::Window { .. } => Timestamp::EPOCH,
        }
    }

    #[inline]
    fn contents(&self, state: Option<State>, now: Timestamp) -> Contents {
        let now = Timestamp::from_unix_ms(now.inside());
        let capacity = self.capacity.signed();
        let Some(State::Bucket { refilled_at, tokens }) = state else {
            return Contents { refilled_at: now, tokens: capacity };
        };
        // Where a machine with a later clock has been, its time decides.
        let now = now.max(refilled_at);
        let refills = (now.unix_ms() - refilled_at.unix_ms()) / self.interval.ms();
        let gain = i64::try_from(refills.saturating_mul(self.refill.get())).unwrap_or(i64::MAX);
        let tokens = tokens.max(DEEPEST).saturating_add(gain);
        if tokens >= capacity {
            Contents { refilled_at: now, tokens: capacity }
        } else {
            let refilled_at = refilled_at.saturating_add_ms(refills * self.interval.ms());
            Contents { refilled_at, tokens }
        }
    }

    #[inline]
    fn admits(&self, contents: Contents, cost: Units) -> bool {
        self.capacity > Units::ZERO && cost.signed() <= contents.tokens
    }

    fn retry_at(&self, contents: Contents, cost: Units) -> Option<Timestamp> {
        if self.capacity == Units::ZERO || cost > self.capacity || self.refill == Units::ZERO {
            return None;
        }
        Some(self.holds_at(contents.refilled_at, contents.tokens, cost.signed()))
    }

    /// When a bucket that held `tokens` at `refilled_at` holds `wanted`, if nothing is drawn from it.
    #[inline]
    #[expect(clippy::cast_sign_loss, reason = "negative differences are handled before the cast")]
    fn holds_at(&self, refilled_at: Timestamp, tokens: i64, wanted: i64) -> Timestamp {
        let missing = wanted.saturating_sub(tokens);
        if missing <= 0 {
            return refilled_at;
        }
        if self.refill == Units::ZERO {
            return Timestamp::MAX;
        }
        let refills = (missing as u64).div_ceil(self.refill.get());
        refilled_at.saturating_add_ms(refills.saturating_mul(self.interval.ms()))
    }
}
