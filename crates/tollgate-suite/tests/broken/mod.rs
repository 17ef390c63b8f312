//! A store with one fault, to show that the suite can fail.

mod asked;
mod found;
mod keys;
mod settling;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use async_trait::async_trait;
use tollgate_core::{Charging, Limit, State, Timestamp, Units};
use tollgate_store::{
    Charge, Decisions, Forget, Key, Settle, SettleId, Store, StoreError, StoreErrorKind, Take,
};

use crate::shown::{faults, yield_once};

faults! {
    // Of the charges that are asked for.
    CostIsAlwaysOne CostOfZeroIsOne CostIsCutToTheQuota ClosedIsUnlimited FirstQuotaStays OrderIsReversed
    NothingIsMisuse SevenAtMost AlwaysIsIfAllowed NeverIsIfAllowed NeverHasNoVote ShadowsVote ShadowsAreNotKept
    // Of the clock.
    ClockIsInSeconds ClockIsLate NewerWindowIsIgnored BehindIsAccepted BehindIsHalfTaken
    // Of the states that are found.
    PreviousIsForgotten DebtEndsWithItsWindow WeightIsRoundedDown WeightIsRoundedToNearest WeightIsAFloatOfTheShare WeightIsAFloat
    RefillsAreInSeconds RefillsFollowTheClockBack
    // Of the states that are written.
    RefusedIsHalfTaken AlwaysIsLostBesideARefusal OnlyTheFirstIsWritten CountsAreCutTo32Bits LargestCountStartsOver
    DebtIsForgotten CountStopsAtTheQuota FullBucketKeepsItsPhase
    // Of its two doors.
    NowOnlyLooks NowCountsAndSaysNothing
    // Of calls that race.
    ReadsThenWrites ReadsThenWritesSeveral SettlesTwiceAtOnce SettleReadsThenWrites
    // Of its keys.
    PartsAreJoinedPlainly LongPartsAreCut LongPartsAreKnownByTheirLength CaseIsFolded SpaceIsTrimmed NulEndsAPart
    OnlyAsciiIsKept NumbersAreOtherKeys SubjectsAreDropped NamesAreDropped NamesStopAtAHyphen
    // Of what it must refuse.
    TwiceIsAccepted NineAreAccepted MisuseIsHalfTaken SettleIsNotChecked RefusedSettleSpendsItsId ForgetIsNotChecked
    // Of settlements.
    SettleDoesNothing SettleIsAppliedTwice SettleIdIsItsWords SettleIdIsPerKey SettleIsInTheCurrentWindow SettleIsInTheCurrentWindowOnly
    SettleCreatesKeys SettleRevivesZero RefundIsACredit OnlyTheFirstIsSettled SettleStopsAtTheQuota SettleTakesOnly
    SettleForgetsWhatIsOver SettleForgivesAFullBucket SettleForgivesAMissingBucket
    // Of forgetting.
    ForgetDoesNothing ForgetIsByPrefix ForgetIsByPattern OnlyTheFirstIsForgotten ForgetLeavesThePrevious
    ForgetOfUnknownFails ForgetIsByName
}

#[derive(Debug)]
pub(crate) struct Broken {
    fault: Option<Fault>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    states: BTreeMap<Vec<u8>, State>,
    /// The limit a key was first charged under.
    first_limits: BTreeMap<Vec<u8>, Limit>,
    settled: BTreeSet<(SettleId, Vec<i64>)>,
    /// What was given back beyond what was counted.
    credit: BTreeMap<Vec<u8>, i64>,
}

type Found = Vec<Option<State>>;

impl Broken {
    /// A store with this fault, or with none.
    pub(crate) fn new(fault: Option<Fault>) -> Self {
        Self { fault, kept: Mutex::default() }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self, kept: &Kept, charges: &[Charge<'_>]) -> Found {
        let name = |charge: &Charge<'_>| keys::name(self.fault, &charge.key);
        charges.iter().map(|charge| kept.states.get(&name(charge)).copied()).collect()
    }

    /// Whether it reads before others have written.
    fn races(&self, take: &Take<'_>) -> bool {
        self.is(Fault::ReadsThenWrites) || (self.is(Fault::ReadsThenWritesSeveral) && take.charges.len() > 1)
    }

    fn decide(&self, take: &Take<'_>, found: Option<Found>) -> Result<Decisions, StoreError> {
        self.decide_in(&mut self.kept(), take, found)
    }

    fn decide_in(
        &self,
        kept: &mut Kept,
        take: &Take<'_>,
        found: Option<Found>,
    ) -> Result<Decisions, StoreError> {
        let charges = asked::charges(self.fault, kept, take);
        if let Err(error) = (Take { charges: &charges, ..*take }).check() {
            if self.is(Fault::MisuseIsHalfTaken) {
                let first = Take { charges: &charges[..1], ..*take };
                self.decide_in(kept, &first, None).map(|_| ())?;
            }
            return Err(error);
        }
        let is_refused = (charges.is_empty() && self.is(Fault::NothingIsMisuse))
            || (charges.len() > 7 && self.is(Fault::SevenAtMost));
        if is_refused {
            return Err(StoreError::misuse("not so many"));
        }
        let true_found = found.unwrap_or_else(|| self.found(kept, &charges));
        let now = asked::now(self.fault, take.now, &charges, &true_found);
        let found: Vec<_> = charges
            .iter()
            .zip(&true_found)
            .map(|(charge, state)| found::state(self.fault, charge, *state, now))
            .collect();
        let take = Take { charges: &charges, now };
        let mut written = Vec::new();
        let decided = Decisions::decide(&take, found.iter().copied(), |_, state| written.push(state));
        let is_behind = decided.as_ref().is_err_and(|error| error.kind() == StoreErrorKind::ClockBehind);
        if is_behind && charges.len() > 1 && self.is(Fault::BehindIsHalfTaken) {
            for charge in &charges {
                let alone = Take { charges: std::slice::from_ref(charge), now };
                let _taken_or_behind = self.decide_in(kept, &alone, None);
            }
        }
        let decisions = decided?;
        for (at, charge) in charges.iter().enumerate() {
            let is_lost = (self.is(Fault::AlwaysIsLostBesideARefusal) && !decisions.is_admitted())
                || (self.is(Fault::OnlyTheFirstIsWritten) && at > 0);
            if !is_lost {
                let state = found::restored(found[at], true_found[at], written[at]);
                self.write(kept, charge, true_found[at], state, now, decisions.is_admitted());
            }
        }
        Ok(decisions)
    }

    fn write(
        &self,
        kept: &mut Kept,
        charge: &Charge<'_>,
        found: Option<State>,
        mut state: Option<State>,
        now: Timestamp,
        admitted: bool,
    ) {
        let is_half_taken = self.is(Fault::RefusedIsHalfTaken) && charge.charging == Charging::IfAllowed;
        if is_half_taken && !admitted {
            state = charge.limit.step(found, charge.cost, now, charge.charging, true).state;
        }
        let name = keys::name(self.fault, &charge.key);
        let credit = if state == found { None } else { kept.credit.remove(&name) };
        if let Some(state) = state {
            let written = found::written(self.fault, charge, found, state, credit.unwrap_or(0));
            kept.states.insert(name, written);
        }
    }

    fn answers(&self, take: &Take<'_>) -> Result<Decisions, StoreError> {
        let found = self.races(take).then(|| self.found(&self.kept(), take.charges));
        if found.is_some() {
            for _ in 0..20 {
                thread::yield_now();
            }
        }
        self.decide(take, found)
    }
}

fn is_named(key: &Key<'_>, text: &str) -> bool {
    key.parts().last().is_some_and(|part| format!("{part:?}") == format!("{text:?}"))
}

#[async_trait]
impl Store for Broken {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        match self.fault {
            Some(Fault::NowCountsAndSaysNothing) => {
                let _counted = self.decide(take, None);
                None
            }
            Some(Fault::NowOnlyLooks) => {
                let looks: Vec<_> = take
                    .charges
                    .iter()
                    .map(|charge| Charge { charging: Charging::Never, ..*charge })
                    .collect();
                Some(self.decide(&Take { charges: &looks, ..*take }, None))
            }
            _ => Some(self.answers(take)),
        }
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        if self.races(&take) {
            let found = self.found(&self.kept(), take.charges);
            yield_once().await;
            return self.decide(&take, Some(found));
        }
        self.decide(&take, None)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        let words: Vec<_> = match self.fault {
            Some(Fault::SettleIdIsItsWords) => settle.corrections.iter().map(|made| made.delta).collect(),
            Some(Fault::SettleIdIsPerKey) => {
                let names = settle.corrections.iter().map(|made| keys::name(None, &made.key));
                names.flatten().map(i64::from).collect()
            }
            _ => Vec::new(),
        };
        if self.is(Fault::RefusedSettleSpendsItsId) && settle.check().is_err() {
            self.kept().settled.insert((settle.id, words.clone()));
        }
        if !self.is(Fault::SettleIsNotChecked) {
            settle.check()?;
        }
        let is_known = self.kept().settled.contains(&(settle.id, words.clone()));
        if self.is(Fault::SettlesTwiceAtOnce) {
            yield_once().await;
        }
        if is_known && !self.is(Fault::SettleIsAppliedTwice) {
            return Ok(());
        }
        self.kept().settled.insert((settle.id, words));
        if self.is(Fault::SettleReadsThenWrites) {
            let read = self.kept().states.clone();
            yield_once().await;
            self.kept().states = read;
        }
        let mut kept = self.kept();
        let count = if self.is(Fault::OnlyTheFirstIsSettled) { 1 } else { 8 };
        for correction in settle.corrections.iter().take(count) {
            settling::settle(self.fault, &mut kept, correction, settle.now);
        }
        Ok(())
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        if !self.is(Fault::ForgetIsNotChecked) {
            forget.check()?;
        }
        let mut kept = self.kept();
        let count = if self.is(Fault::OnlyTheFirstIsForgotten) { 1 } else { 8 };
        for target in forget.targets.iter().take(count) {
            let name = keys::name(self.fault, &target.key);
            match self.fault {
                Some(Fault::ForgetDoesNothing) => {}
                Some(Fault::ForgetIsByPrefix) => kept.states.retain(|other, _| !other.starts_with(&name)),
                Some(Fault::ForgetIsByPattern) if is_named(&target.key, "*") => kept.states.clear(),
                Some(Fault::ForgetIsByName) => {
                    let start = target.key.name().as_str().as_bytes();
                    kept.states.retain(|other, _| !other.starts_with(start));
                }
                Some(Fault::ForgetLeavesThePrevious) => {
                    if let Some(State::Window { used, .. }) = kept.states.get_mut(&name) {
                        *used = Units::ZERO;
                    } else {
                        kept.states.remove(&name);
                    }
                }
                _ => {
                    let gone = kept.states.remove(&name);
                    if gone.is_none() && self.is(Fault::ForgetOfUnknownFails) {
                        return Err(StoreError::new(StoreErrorKind::Reject, "no such key"));
                    }
                }
            }
        }
        Ok(())
    }
}
