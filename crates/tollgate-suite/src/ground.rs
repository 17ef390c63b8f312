//! What a case stands on: the store, keys of its own, and ways to say what is expected.

use std::fmt::Debug;

use tollgate_core::{Charging, Decision, Limit, Timestamp, Units, Verdict, Window};
use tollgate_store::{
    Charge, Correction, Decisions, Forget, Key, Name, Part, Settle, SettleId, Store, StoreError,
    StoreErrorKind, Take, Target,
};

use crate::{Door, Failure, Setting};

/// What a case stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) setting: &'a Setting,
    pub(crate) case: &'static str,
    pub(crate) door: Door,
}

/// A key of one case, which no other case of any run has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    parts: [Part<'a>; 4],
}

pub(crate) const NAME: Name<'static> = Name::new("suite");

impl Slot<'_> {
    pub(crate) const fn key(&self) -> Key<'_> {
        Key::new(NAME, &self.parts)
    }

    /// One unit, enforced, charged if the take is admitted.
    pub(crate) const fn charge(&self, limit: Limit) -> Charge<'_> {
        Charge::new(self.key(), limit)
    }

    /// So many units, enforced, charged if the take is admitted.
    pub(crate) const fn cost(&self, limit: Limit, cost: u64) -> Charge<'_> {
        Charge { cost: Units::new(cost), ..self.charge(limit) }
    }

    /// What says whether so many units fit, and writes nothing.
    pub(crate) const fn peek(&self, limit: Limit, cost: u64) -> Charge<'_> {
        Charge { charging: Charging::Never, ..self.cost(limit, cost) }
    }

    /// `delta` units more for the charge that was decided so.
    pub(crate) const fn correct(&self, limit: Limit, decision: &Decision, delta: i64) -> Correction<'_> {
        Correction { key: self.key(), limit, stamp: decision.stamp(), delta }
    }

    pub(crate) const fn target(&self, limit: Limit) -> Target<'_> {
        Target { key: self.key(), limit }
    }
}

/// What a decision is expected to say; the rest of it follows from these and the limit's quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    verdict: Verdict,
    left: i64,
    reset_at: Timestamp,
}

impl Answer {
    pub(crate) const fn allow(left: i64, reset_at: Timestamp) -> Self {
        Self { verdict: Verdict::Allow, left, reset_at }
    }

    pub(crate) const fn deny(left: i64, reset_at: Timestamp, retry_at: Timestamp) -> Self {
        Self { verdict: Verdict::Deny { retry_at: Some(retry_at) }, left, reset_at }
    }

    pub(crate) const fn never(left: i64, reset_at: Timestamp) -> Self {
        Self { verdict: Verdict::Deny { retry_at: None }, left, reset_at }
    }
}

impl From<&Decision> for Answer {
    fn from(decision: &Decision) -> Self {
        Self { verdict: decision.verdict(), left: decision.left(), reset_at: decision.reset_at() }
    }
}

impl<'a> Ground<'a> {
    /// The case's key of this label.
    pub(crate) const fn slot(&self, label: &'a str) -> Slot<'a> {
        self.slot_of(Part::Text(label))
    }

    pub(crate) const fn slot_of(&self, label: Part<'a>) -> Slot<'a> {
        let door = match self.door {
            Door::Take => "take",
            Door::TakeNow => "take-now",
        };
        Slot { parts: [Part::Number(self.setting.run), Part::Text(self.case), Part::Text(door), label] }
    }

    /// The start of a window which itself, and the one before it, lie after the epoch.
    pub(crate) fn start(&self, window: Window) -> Timestamp {
        self.setting.start(window)
    }

    /// The case's id of this number.
    pub(crate) fn id(&self, number: u32) -> SettleId {
        self.setting.id((self.case, self.door == Door::Take, number))
    }

    pub(crate) async fn try_take(
        &self,
        charges: &[Charge<'_>],
        now: Timestamp,
    ) -> Result<Decisions, StoreError> {
        let take = Take { charges, now };
        if self.door == Door::TakeNow
            && let Some(answer) = self.store.take_now(&take)
        {
            return answer;
        }
        self.store.take(take).await
    }

    pub(crate) async fn take(&self, charges: &[Charge<'_>], now: Timestamp) -> Result<Decisions, Failure> {
        let decisions = self.try_take(charges, now).await.map_err(|error| self.unexpected("take", &error))?;
        self.same("the number of decisions", decisions.len(), charges.len())?;
        self.same("the time that decided", decisions.decided_at(), now)?;
        Ok(decisions)
    }

    /// Takes one charge and says what was decided.
    pub(crate) async fn take_one(&self, charge: Charge<'_>, now: Timestamp) -> Result<Decision, Failure> {
        let decisions = self.take(&[charge], now).await?;
        self.same("the quota", decisions[0].quota(), charge.limit.quota())?;
        if charge.enforce {
            self.same("whether the take is admitted", decisions.is_admitted(), decisions[0].is_allowed())?;
        }
        Ok(decisions[0])
    }

    /// Takes one charge and holds the answer against what is owed.
    pub(crate) async fn expect(
        &self,
        what: &str,
        charge: Charge<'_>,
        now: Timestamp,
        answer: Answer,
    ) -> Result<(), Failure> {
        let decision = self.take_one(charge, now).await?;
        self.same(what, Answer::from(&decision), answer)
    }

    /// Takes one charge, whatever is decided.
    pub(crate) async fn spend(&self, charge: Charge<'_>, now: Timestamp) -> Result<(), Failure> {
        self.spend_all(&[charge], now).await
    }

    /// Takes several charges, whatever is decided.
    pub(crate) async fn spend_all(&self, charges: &[Charge<'_>], now: Timestamp) -> Result<(), Failure> {
        self.take(charges, now).await.map(|_| ())
    }

    /// What is left under a key, without touching it.
    pub(crate) async fn left(&self, slot: &Slot<'_>, limit: Limit, now: Timestamp) -> Result<i64, Failure> {
        Ok(self.take_one(slot.peek(limit, 0), now).await?.left())
    }

    pub(crate) async fn take_error(
        &self,
        what: &str,
        charges: &[Charge<'_>],
        now: Timestamp,
        kind: StoreErrorKind,
    ) -> Result<(), Failure> {
        match self.try_take(charges, now).await {
            Ok(decisions) => Err(self.differs(what, &decisions, &kind)),
            Err(error) => self.same(what, error.kind(), kind),
        }
    }

    pub(crate) async fn settle(
        &self,
        id: SettleId,
        corrections: &[Correction<'_>],
        now: Timestamp,
    ) -> Result<(), Failure> {
        let settle = Settle { id, corrections, now };
        self.store.settle(settle).await.map_err(|error| self.unexpected("settle", &error))
    }

    pub(crate) async fn forget(&self, targets: &[Target<'_>], now: Timestamp) -> Result<(), Failure> {
        self.store.forget(Forget { targets, now }).await.map_err(|error| self.unexpected("forget", &error))
    }

    /// Fails unless the two are the same.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a case reads as a list of facts, without signs of borrowing"
    )]
    pub(crate) fn same<T: PartialEq + Debug>(&self, what: &str, got: T, want: T) -> Result<(), Failure> {
        if got == want { Ok(()) } else { Err(self.differs(what, &got, &want)) }
    }

    pub(crate) fn differs(&self, what: &str, got: &dyn Debug, want: &dyn Debug) -> Failure {
        self.failure(&format!("{what}: the store says {got:?}, it owes {want:?}"))
    }

    pub(crate) fn unexpected(&self, call: &str, error: &StoreError) -> Failure {
        self.failure(&format!("{call} failed: {error}"))
    }

    pub(crate) fn failure(&self, detail: &str) -> Failure {
        let call = match self.door {
            Door::Take => "through `take`",
            Door::TakeNow => "through `take_now`",
        };
        Failure::new(self.case, format!("{detail} ({call})"))
    }
}
