//! Applies policies to requests: checks, peeks and forgets.

use std::{error::Error, sync::Arc};

use arrayvec::ArrayVec;
use tollgate_core::{Charging, ClockBehind, Timestamp};
use tollgate_store::{Charge, Decisions, Forget, KeyParts, MOST_CHARGES, Store, StoreError, Take, Target};

use crate::{
    AnyPolicy, Clock, GuardBuilder, OnOutage, Outage, Outcome, Pass, Policy, PolicyCharge, PolicyDecision,
    Refusal, Stats,
    outage_log::OutageLog,
    outcome::{OutageReason, PolicyDecisions},
    refund::RefundId,
    spawner::Spawner,
    stats::Tally,
};

/// Applies policies to requests, on one store.
///
/// A check never fails: where the store cannot decide, each policy says what happens. Share one guard behind an
/// [`Arc`]; it has no lock of its own.
///
/// ```
/// use tollgate_guard::{Guard, Limit, ManualClock, OnOutage, Outcome, Policy, Window};
/// # use tollgate_memory::MemoryStore;
///
/// const ASK: Policy<1> = Policy::new("ask", Limit::fixed(1, Window::MINUTE), OnOutage::Deny);
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let guard = Guard::builder(MemoryStore::new()).policy(ASK).build()?;
/// assert!(guard.check(&[ASK.charge("203.0.113.7")]).await.is_allowed());
/// match guard.check(&[ASK.charge("203.0.113.7")]).await {
///     Outcome::Allow(_) => unreachable!("the quota is 1"),
///     Outcome::Deny(refusal) => assert!(refusal.retry_at().is_some()), // answer 429
///     Outcome::Unavailable(_) => {}                                    // answer 503
/// }
/// # Ok::<(), tollgate_guard::GuardError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Guard<S = Arc<dyn Store>> {
    pub(crate) parts: Parts<S>,
}

/// What a guard is made of.
#[derive(Debug)]
pub(crate) struct Parts<S> {
    pub(crate) store: S,
    pub(crate) local: Option<Arc<dyn Store>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) policies: Box<[AnyPolicy]>,
    pub(crate) tally: Tally,
    pub(crate) log: OutageLog,
    pub(crate) spawner: Option<Spawner>,
}

/// The policies of the charges of one check, in their order.
type Policies<'g> = ArrayVec<&'g AnyPolicy, MOST_CHARGES>;

/// The charges of one check in a store's words.
type StoreCharges<'c> = ArrayVec<Charge<'c>, MOST_CHARGES>;

/// A check that is ready to be sent.
struct Prepared<'g, 'c> {
    charges: &'c [PolicyCharge<'c>],
    policies: Policies<'g>,
    /// Overrides how each charge is written.
    charging: Option<Charging>,
    now: Timestamp,
}

impl<S: Store> Guard<S> {
    /// Begins a guard on this store.
    pub fn builder(store: S) -> GuardBuilder<S> {
        GuardBuilder::new(store)
    }

    pub(crate) fn new(parts: Parts<S>) -> Self {
        Self { parts }
    }

    /// Checks and takes all charges or none.
    ///
    /// At most eight charges, no key twice, of registered policies only, and no [estimate](PolicyCharge::estimate), which is for
    /// [`Guard::reserve`]: otherwise the outcome is [`Outcome::Unavailable`] with [`OutageReason::Misuse`], and an error is logged.
    pub async fn check(&self, charges: &[PolicyCharge<'_>]) -> Outcome {
        self.check_prepared(self.prepare_known(charges)).await
    }

    /// As [`Guard::check`] for a reservation, which settles its estimates.
    pub(crate) async fn check_estimates(&self, charges: &[PolicyCharge<'_>]) -> Outcome {
        self.check_prepared(self.prepare(charges, None)).await
    }

    async fn check_prepared(&self, prepared: Result<Prepared<'_, '_>, StoreError>) -> Outcome {
        let outcome = match prepared {
            Ok(mut prepared) => {
                let answer = self.take(&mut prepared).await;
                self.conclude(&prepared, answer)
            }
            Err(error) => Outcome::Unavailable(self.unprepared(&error)),
        };
        self.parts.tally.count(&outcome);
        outcome
    }

    /// As [`Guard::check`] where the store answers at once, with no future; `None` if it does not, and then nothing was counted.
    #[inline]
    #[must_use]
    pub fn check_now(&self, charges: &[PolicyCharge<'_>]) -> Option<Outcome> {
        let outcome = match self.prepare_known(charges) {
            Ok(mut prepared) => {
                let answer = self.take_now(&mut prepared)?;
                self.conclude(&prepared, answer)
            }
            Err(error) => Outcome::Unavailable(self.unprepared(&error)),
        };
        self.parts.tally.count(&outcome);
        Some(outcome)
    }

    /// As [`Guard::check`] for those who decide themselves what an outage means: the outcome is never
    /// [`Outcome::Unavailable`].
    ///
    /// # Errors
    /// If the store could not decide, whatever the policies say; a misuse is one too.
    pub async fn try_check(&self, charges: &[PolicyCharge<'_>]) -> Result<Outcome, StoreError> {
        let result = match self.prepare_known(charges) {
            Ok(mut prepared) => match self.take(&mut prepared).await {
                Ok(decisions) => {
                    self.parts.log.answered(prepared.now);
                    Ok(prepared.outcome(&decisions, &|at| at, None))
                }
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        match &result {
            Ok(outcome) => self.parts.tally.count(outcome),
            Err(error) => self.parts.log.failed(error, self.now()),
        }
        result
    }

    /// What [`Guard::check`] would answer, or [`Guard::reserve`] for an estimate, taking nothing.
    pub async fn peek(&self, charges: &[PolicyCharge<'_>]) -> Outcome {
        match self.prepare(charges, Some(Charging::Never)) {
            Ok(mut prepared) => {
                let answer = self.take(&mut prepared).await;
                self.conclude(&prepared, answer)
            }
            Err(error) => Outcome::Unavailable(self.unprepared(&error)),
        }
    }

    /// Forgets what one key of a policy has spent, in the local store too.
    ///
    /// # Errors
    /// As [`Guard::forget_charges`].
    pub async fn forget<'a, const N: usize>(
        &self,
        policy: &Policy<N>,
        parts: impl KeyParts<'a, N>,
    ) -> Result<(), StoreError> {
        self.forget_charges(&[policy.charge(parts)]).await
    }

    /// Forgets what the keys of these charges have spent, in the local store too: for policies that are not constants, and for
    /// charges under a limit of their own.
    ///
    /// # Errors
    /// If the store could not; trying again is safe. [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse) if a policy is
    /// not registered, or there are more than eight charges or two on one key.
    pub async fn forget_charges(&self, charges: &[PolicyCharge<'_>]) -> Result<(), StoreError> {
        for charge in charges {
            self.find(charge)?;
        }
        let now = self.now();
        let targets: Vec<Target<'_>> =
            charges.iter().map(|charge| Target { key: charge.key(), limit: charge.own_limit() }).collect();
        if let Some(local) = &self.parts.local {
            local.forget(Forget { targets: &targets, now }).await?;
        }
        self.parts.store.forget(Forget { targets: &targets, now }).await
    }

    /// The guard's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// The store it counts in.
    #[must_use]
    pub const fn store(&self) -> &S {
        &self.parts.store
    }

    /// How many checks came out which way.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.parts.tally.read()
    }

    /// As [`Guard::prepare`], refusing what nobody would settle.
    #[inline]
    fn prepare_known<'g, 'c>(
        &'g self,
        charges: &'c [PolicyCharge<'c>],
    ) -> Result<Prepared<'g, 'c>, StoreError> {
        if charges.iter().any(PolicyCharge::is_estimate) {
            return Err(StoreError::misuse("an estimate in a check, where nobody settles it: use `reserve`"));
        }
        self.prepare(charges, None)
    }

    #[inline]
    fn prepare<'g, 'c>(
        &'g self,
        charges: &'c [PolicyCharge<'c>],
        charging: Option<Charging>,
    ) -> Result<Prepared<'g, 'c>, StoreError> {
        if charges.len() > MOST_CHARGES {
            return Err(StoreError::misuse("more than 8 charges in one check: use fewer policies"));
        }
        let mut policies = Policies::new();
        for charge in charges {
            policies.push(self.find(charge)?);
        }
        Ok(Prepared { charges, policies, charging, now: self.now() })
    }

    #[inline]
    pub(crate) fn find(&self, charge: &PolicyCharge<'_>) -> Result<&AnyPolicy, StoreError> {
        let name = charge.name();
        self.parts
            .policies
            .iter()
            .find(|policy| *policy.name == *name.as_str() && policy.parts == charge.parts().len())
            .ok_or_else(|| {
                let parts = charge.parts().len();
                StoreError::misuse(format!(
                    "the guard knows no policy {name:?} of {parts} key parts: register it with the builder"
                ))
            })
    }

    #[inline]
    fn take_now(&self, prepared: &mut Prepared<'_, '_>) -> Option<Result<Decisions, StoreError>> {
        let charges = prepared.store_charges();
        loop {
            match self.parts.store.take_now(&Take { charges: &charges, now: prepared.now })? {
                Err(error) if self.has_caught_up(&mut prepared.now, &error) => {}
                answer => return Some(answer),
            }
        }
    }

    async fn take(&self, prepared: &mut Prepared<'_, '_>) -> Result<Decisions, StoreError> {
        let charges = prepared.store_charges();
        loop {
            let take = Take { charges: &charges, now: prepared.now };
            let answer = match self.parts.store.take_now(&take) {
                Some(answer) => answer,
                None => self.parts.store.take(take).await,
            };
            match answer {
                Err(error) if self.has_caught_up(&mut prepared.now, &error) => {}
                answer => return answer,
            }
        }
    }

    /// Whether a clock that was behind when it was read has reached what is stored since: then it was not the clock that was late,
    /// but this check on its way to the store. Nothing was written, so the take can be sent again at the time it is now.
    #[cold]
    fn has_caught_up(&self, now: &mut Timestamp, error: &StoreError) -> bool {
        let Some(behind) = error.source().and_then(|source| source.downcast_ref::<ClockBehind>()) else {
            return false;
        };
        let read_before = std::mem::replace(now, self.now());
        now.since(read_before) >= behind.by()
    }

    #[inline]
    fn conclude(&self, prepared: &Prepared<'_, '_>, answer: Result<Decisions, StoreError>) -> Outcome {
        match answer {
            Ok(decisions) => {
                self.parts.log.answered(prepared.now);
                prepared.outcome(&decisions, &|at| at, None)
            }
            Err(error) => {
                // The store may have taken its time to fail: what follows is counted and logged from now on.
                let now = self.now();
                self.parts.log.failed(&error, now);
                self.without_store(prepared, error.kind().into(), now)
            }
        }
    }

    #[cold]
    pub(crate) fn unprepared(&self, error: &StoreError) -> Outage {
        let now = self.now();
        self.parts.log.failed(error, now);
        Outage { reason: error.kind().into(), noticed_at: now }
    }

    /// What the policies say when the store could not decide: one that denies refuses all, those that count locally are counted,
    /// those that allow are skipped. Shadows do not vote.
    #[cold]
    fn without_store(&self, prepared: &Prepared<'_, '_>, reason: OutageReason, now: Timestamp) -> Outcome {
        let unavailable = Outcome::Unavailable(Outage { reason, noticed_at: now });
        let stops = |(charge, policy): (&PolicyCharge<'_>, &&AnyPolicy)| {
            charge.is_enforced() && policy.terms.on_outage == OnOutage::Deny
        };
        if reason == OutageReason::Misuse || prepared.charges.iter().zip(&prepared.policies).any(stops) {
            return unavailable;
        }
        let mut places: ArrayVec<usize, MOST_CHARGES> = ArrayVec::new();
        let mut charges = StoreCharges::new();
        for (at, (charge, policy)) in prepared.charges.iter().zip(&prepared.policies).enumerate() {
            if let OnOutage::Local(share) = policy.terms.on_outage {
                places.push(at);
                charges.push(charge.to_store(share.of(charge.own_limit()), prepared.charging));
            }
        }
        let refund_id = RefundId::new();
        let pass =
            Pass { decisions: PolicyDecisions::new(), decided_at: now, outage: Some(reason), refund_id };
        let (false, Some(local)) = (charges.is_empty(), &self.parts.local) else {
            return Outcome::Allow(pass);
        };
        match local.take_now(&Take { charges: &charges, now }) {
            Some(Ok(decisions)) => prepared.outcome(&decisions, &|at| places[at], Some(reason)),
            Some(Err(_)) | None => unavailable,
        }
    }
}

impl<'c> Prepared<'_, 'c> {
    #[inline]
    fn store_charges(&self) -> StoreCharges<'c> {
        self.charges.iter().map(|charge| charge.to_store(charge.own_limit(), self.charging)).collect()
    }

    /// `place` says which of the charges each decision is about.
    #[inline]
    fn outcome(
        &self,
        decided: &Decisions,
        place: &dyn Fn(usize) -> usize,
        outage: Option<OutageReason>,
    ) -> Outcome {
        let decisions = decided.iter().enumerate().map(|(at, decision)| {
            let at_charge = place(at);
            let (charge, policy) = (&self.charges[at_charge], self.policies[at_charge]);
            PolicyDecision {
                policy: policy.name.clone(),
                decision: *decision,
                period: charge.own_limit().period(),
                written: charge.written(self.charging, decision.is_allowed(), decided.is_admitted()),
                hidden: policy.terms.hidden,
                enforced: charge.is_enforced(),
                place: u8::try_from(at_charge).unwrap_or(u8::MAX),
                warn_at: policy.terms.warn_at,
            }
        });
        let (decisions, decided_at) = (decisions.collect(), decided.decided_at());
        if decided.is_admitted() {
            Outcome::Allow(Pass { decisions, decided_at, outage, refund_id: RefundId::new() })
        } else {
            Outcome::Deny(Refusal { decisions, decided_at, retry_at: decided.retry_at(), outage })
        }
    }
}
