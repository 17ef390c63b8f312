//! What a store answers to a take.

use std::{fmt, ops::Deref};

use arrayvec::ArrayVec;
use tollgate_core::{Asked, Decision, State, Timestamp, Verdict, decide};

use crate::{MOST_CHARGES, StoreError, Take};

/// The decisions on the charges of one take, in their order, and whether the take was admitted.
///
/// Held inline: making and returning one allocates nothing.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Decisions {
    decisions: ArrayVec<Decision, MOST_CHARGES>,
    /// A bit for each charge that votes.
    enforced: u8,
    admitted: bool,
    decided_at: Timestamp,
}

impl Decisions {
    /// Decides `take` against the states its keys were found in, handing `write` the state of each key afterwards.
    ///
    /// This is how a store in memory decides, and how the reader of a script's reply repeats what the script decided, so the two
    /// cannot differ. `write` is called once for each charge, in order, with its place and exactly the state it was found in
    /// unless something was charged.
    ///
    /// # Errors
    /// [`StoreErrorKind::Misuse`](crate::StoreErrorKind::Misuse) as [`Take::check`], or if `found` is not as long as the charges;
    /// [`StoreErrorKind::ClockBehind`](crate::StoreErrorKind::ClockBehind) if `now` is more than one window behind what was found.
    /// In both cases `write` was not called at all.
    #[inline]
    pub fn decide(
        take: &Take<'_>,
        found: impl IntoIterator<Item = Option<State>>,
        mut write: impl FnMut(usize, Option<State>),
    ) -> Result<Self, StoreError> {
        take.check()?;
        let asked: ArrayVec<Asked, MOST_CHARGES> = take
            .charges
            .iter()
            .zip(found)
            .map(|(charge, found)| Asked {
                limit: charge.limit,
                cost: charge.cost,
                charging: charge.charging,
                enforce: charge.enforce,
                found,
            })
            .collect();
        if asked.len() != take.charges.len() {
            return Err(StoreError::misuse("fewer states than charges"));
        }
        let mut answer =
            Self { decisions: ArrayVec::new(), enforced: 0, admitted: false, decided_at: take.now };
        answer.admitted = decide(&asked, take.now, |step| {
            let at = answer.decisions.len();
            answer.enforced |= u8::from(asked[at].enforce) << at;
            write(at, step.state);
            answer.decisions.push(step.decision);
        })?;
        Ok(answer)
    }

    /// Whether every enforced charge fitted, so that all were taken.
    #[must_use]
    pub const fn is_admitted(&self) -> bool {
        self.admitted
    }

    /// The time that decided.
    #[must_use]
    pub const fn decided_at(&self) -> Timestamp {
        self.decided_at
    }

    /// The answer to the take as a whole. A refusal's `retry_at` is the latest over the charges that refused, which is the first
    /// instant at which the same take would be admitted if nothing else were spent. Only where a charge that fitted is written all
    /// the same ([`Charging::Always`](tollgate_core::Charging::Always)) may it have used up itself what it needs by then.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.admitted {
            return Verdict::Allow;
        }
        let waits: Option<ArrayVec<Timestamp, MOST_CHARGES>> =
            self.refusing().map(|(_, decision)| decision.retry_at()).collect();
        Verdict::Deny { retry_at: waits.and_then(|waits| waits.into_iter().max()) }
    }

    /// When the same take would be admitted: nothing if it was, or if it never can be.
    #[must_use]
    pub fn retry_at(&self) -> Option<Timestamp> {
        match self.verdict() {
            Verdict::Allow => None,
            Verdict::Deny { retry_at } => retry_at,
        }
    }

    /// The charges that refused the take, each with its place.
    pub fn refusing(&self) -> impl Iterator<Item = (usize, &Decision)> {
        self.decisions
            .iter()
            .enumerate()
            .filter(|(at, decision)| self.is_enforced(*at) && !decision.is_allowed())
    }

    /// Whether the charge at this place voted.
    #[must_use]
    pub const fn is_enforced(&self, at: usize) -> bool {
        at < MOST_CHARGES && self.enforced >> at & 1 == 1
    }
}

impl Deref for Decisions {
    type Target = [Decision];

    fn deref(&self) -> &[Decision] {
        &self.decisions
    }
}

impl<'a> IntoIterator for &'a Decisions {
    type Item = &'a Decision;
    type IntoIter = std::slice::Iter<'a, Decision>;

    fn into_iter(self) -> Self::IntoIter {
        self.decisions.iter()
    }
}

impl fmt::Debug for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decisions")
            .field("admitted", &self.admitted)
            .field("decided_at", &self.decided_at)
            .field("decisions", &self.decisions.as_slice())
            .finish()
    }
}
