//! What the math answers.

use core::time::Duration;

use crate::{Stamp, State, Timestamp, Units};

/// Whether a charge may go ahead.
///
/// A refusal is a value, never an error. The enum is exhaustive: there is no third answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It fits.
    Allow,
    /// It does not fit.
    Deny {
        /// The first instant at which it would fit if nothing else were spent; one millisecond earlier it would not.
        /// `None`: it can never fit, because the cost is above the quota or the limit is closed.
        retry_at: Option<Timestamp>,
    },
}

/// The answer to one charge, with the figures after what was really written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Decision {
    pub(crate) verdict: Verdict,
    pub(crate) quota: Units,
    pub(crate) left: i64,
    pub(crate) reset_at: Timestamp,
}

impl Decision {
    /// Whether the charge fits its limit.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self.verdict, Verdict::Allow)
    }

    /// Whether the charge fits, and if not, when it would.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The units its limit admits: the quota of a window, the capacity of a bucket.
    #[must_use]
    pub const fn quota(&self) -> Units {
        self.quota
    }

    /// The units that count as spent now, at most [`Units::MAX`]; of a sliding window the previous one's share included,
    /// rounded up.
    #[must_use]
    pub const fn used(&self) -> Units {
        Units::clamped(self.quota.signed().saturating_sub(self.left))
    }

    /// The units that are left, 0 where the limit is reached or passed.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        Units::clamped(self.left).get()
    }

    /// Quota less what is used: below zero where more was charged than the quota admits.
    #[must_use]
    pub const fn left(&self) -> i64 {
        self.left
    }

    /// When the current window ends; of a bucket, when it is next refilled.
    #[must_use]
    pub const fn reset_at(&self) -> Timestamp {
        self.reset_at
    }

    /// When the same charge would fit: nothing if it fits already, or if it never can.
    #[must_use]
    pub const fn retry_at(&self) -> Option<Timestamp> {
        match self.verdict {
            Verdict::Allow => None,
            Verdict::Deny { retry_at } => retry_at,
        }
    }

    /// How long after `now` the same charge would fit: nothing if it fits already, or if it never can.
    #[must_use]
    pub const fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        match self.retry_at() {
            Some(at) => Some(at.since(now)),
            None => None,
        }
    }

    /// The window the charge was decided in: what a settlement needs.
    #[must_use]
    pub const fn stamp(&self) -> Stamp {
        Stamp::ending_at(self.reset_at)
    }
}

/// One charge carried out: what was decided, and what is to be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Step {
    /// The answer.
    pub decision: Decision,
    /// The state afterwards: exactly the state before, unless something was charged.
    pub state: Option<State>,
}
