//! What came of a check.

use std::time::Duration;

use arrayvec::ArrayVec;
use tollgate_core::{Decision, Timestamp, Units, Window};
use tollgate_store::{MOST_CHARGES, StoreErrorKind};

use crate::{PolicyName, refund::RefundId};

/// What came of a check: exhaustive, since every caller has to answer each of the three.
///
/// Owns what it holds, so it may outlive the request it came from. What it holds of a request that may go ahead is a [`Pass`], or
/// of [`Guard::reserve`](crate::Guard::reserve) a [`Reservation`](crate::Reservation).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[expect(clippy::large_enum_variant, reason = "a check allocates nothing, and an outage is rare")]
pub enum Outcome<P = Pass> {
    /// The request may go ahead.
    Allow(P),
    /// A limit is reached.
    Deny(Refusal),
    /// It could not be decided, and a policy says to refuse then.
    Unavailable(Outage),
}

impl<P> Outcome<P> {
    /// Whether the request may go ahead.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// The same outcome with something else made of what a request that may go ahead has.
    pub fn map<Q>(self, with: impl FnOnce(P) -> Q) -> Outcome<Q> {
        match self {
            Self::Allow(pass) => Outcome::Allow(with(pass)),
            Self::Deny(refusal) => Outcome::Deny(refusal),
            Self::Unavailable(outage) => Outcome::Unavailable(outage),
        }
    }
}

impl<P: AsRef<Pass>> Outcome<P> {
    /// The decisions that were made, one for each charge that was decided, in the order of the charges.
    ///
    /// While the store is gone there are fewer than charges, or none: see [`PolicyDecision::place`].
    #[must_use]
    pub fn decisions(&self) -> &[PolicyDecision] {
        match self {
            Self::Allow(pass) => pass.as_ref().decisions(),
            Self::Deny(refusal) => refusal.decisions(),
            Self::Unavailable(_) => &[],
        }
    }

    /// The decisions of policies that warn: see [`PolicyDecision::is_warning`].
    pub fn warnings(&self) -> impl Iterator<Item = &PolicyDecision> {
        self.decisions().iter().filter(|decision| decision.is_warning())
    }

    /// When it was decided, or noticed that it could not be.
    #[must_use]
    pub fn decided_at(&self) -> Timestamp {
        match self {
            Self::Allow(pass) => pass.as_ref().decided_at(),
            Self::Deny(refusal) => refusal.decided_at(),
            Self::Unavailable(outage) => outage.noticed_at(),
        }
    }
}

/// The decision on one charge, with what is needed to speak of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDecision {
    pub(crate) policy: PolicyName,
    pub(crate) decision: Decision,
    pub(crate) period: Window,
    pub(crate) written: Units,
    pub(crate) hidden: bool,
    pub(crate) enforced: bool,
    pub(crate) place: u8,
    /// In per cent of the quota; 0 for never.
    pub(crate) warn_at: u8,
}

impl PolicyDecision {
    /// The name of the policy.
    #[must_use]
    pub const fn policy(&self) -> &PolicyName {
        &self.policy
    }

    /// Which of the charges that were checked it is about, counted from 0.
    #[must_use]
    pub const fn place(&self) -> usize {
        self.place as usize
    }

    /// What was decided, and the figures afterwards.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// How long the limit's window is, or for a bucket how long an empty one takes to be full.
    #[must_use]
    pub const fn period(&self) -> Window {
        self.period
    }

    /// How many units were written to the count.
    #[must_use]
    pub const fn written(&self) -> Units {
        self.written
    }

    /// Whether the policy is kept out of public headers and bodies.
    #[must_use]
    pub const fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// Whether it votes; otherwise it is a shadow.
    #[must_use]
    pub const fn is_enforced(&self) -> bool {
        self.enforced
    }

    /// Whether it refused the request: enforced, and the charge did not fit.
    #[must_use]
    pub const fn refuses(&self) -> bool {
        self.enforced && !self.decision.is_allowed()
    }

    /// Whether the charge fits and at least the share of the quota is spent at which the policy warns: see
    /// [`Policy::warn_at`](crate::Policy::warn_at). Of a policy that refuses, only the refusal is told.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        let (used, quota) = (self.decision.used().get(), self.decision.quota().get());
        let is_reached = u128::from(used) * 100 >= u128::from(quota) * u128::from(self.warn_at);
        self.warn_at > 0 && self.decision.is_allowed() && is_reached
    }
}

pub(crate) type PolicyDecisions = ArrayVec<PolicyDecision, MOST_CHARGES>;

/// A request that may go ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    pub(crate) decisions: PolicyDecisions,
    pub(crate) decided_at: Timestamp,
    pub(crate) outage: Option<OutageReason>,
    pub(crate) refund_id: RefundId,
}

impl AsRef<Self> for Pass {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Pass {
    /// The decisions, one for each charge that was decided, in the order of the charges.
    #[must_use]
    pub fn decisions(&self) -> &[PolicyDecision] {
        &self.decisions
    }

    /// When it was decided.
    #[must_use]
    pub const fn decided_at(&self) -> Timestamp {
        self.decided_at
    }

    /// Why the store did not decide, if it did not: then some charges were not counted, or only on this machine.
    #[must_use]
    pub const fn outage(&self) -> Option<OutageReason> {
        self.outage
    }
}

/// A request that a limit refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) decisions: PolicyDecisions,
    pub(crate) decided_at: Timestamp,
    pub(crate) retry_at: Option<Timestamp>,
    pub(crate) outage: Option<OutageReason>,
}

impl Refusal {
    /// The decisions, one for each charge that was decided, in the order of the charges.
    #[must_use]
    pub fn decisions(&self) -> &[PolicyDecision] {
        &self.decisions
    }

    /// The decisions that refused.
    pub fn refusing(&self) -> impl Iterator<Item = &PolicyDecision> {
        self.decisions.iter().filter(|decision| decision.refuses())
    }

    /// When it was decided.
    #[must_use]
    pub const fn decided_at(&self) -> Timestamp {
        self.decided_at
    }

    /// The first instant at which the same request would be admitted if nothing else were spent; `None` if it never can be.
    #[must_use]
    pub const fn retry_at(&self) -> Option<Timestamp> {
        self.retry_at
    }

    /// Why the store did not decide, if it did not: then this machine's own count refused.
    #[must_use]
    pub const fn outage(&self) -> Option<OutageReason> {
        self.outage
    }
}

/// A request that could not be decided and is refused for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    pub(crate) reason: OutageReason,
    pub(crate) noticed_at: Timestamp,
}

impl Outage {
    /// How long to stay away when a store is gone: nobody knows, so this is a polite guess.
    pub const RETRY_AFTER: Duration = Duration::from_secs(60);

    /// Why it could not be decided.
    #[must_use]
    pub const fn reason(&self) -> OutageReason {
        self.reason
    }

    /// When that was noticed.
    #[must_use]
    pub const fn noticed_at(&self) -> Timestamp {
        self.noticed_at
    }

    /// When to try again: [`Outage::RETRY_AFTER`] later.
    #[must_use]
    pub fn retry_at(&self) -> Timestamp {
        self.noticed_at.saturating_add(Self::RETRY_AFTER)
    }
}

/// Why a store did not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutageReason {
    /// The check was wrong: a policy the guard does not know, two charges on one key, more than eight. A fault of the program; no
    /// [`OnOutage`](crate::OnOutage) lets it through.
    Misuse,
    /// The store failed.
    Store(StoreErrorKind),
}

impl From<StoreErrorKind> for OutageReason {
    fn from(kind: StoreErrorKind) -> Self {
        if kind == StoreErrorKind::Misuse { Self::Misuse } else { Self::Store(kind) }
    }
}
