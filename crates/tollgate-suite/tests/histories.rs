//! What random histories are made of: one that never steps back, say, would prove nothing about that.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tollgate_core::{Charging, Limit, State, Timestamp, Units};
use tollgate_store::{Decisions, Forget, Settle, SettleId, Store, StoreError, StoreErrorKind, Take};
use tollgate_suite::{Reference, SEEDS, STEPS, Setting, differential};

/// A store that notes what it is asked and what it answers.
#[derive(Debug, Default)]
struct Witness {
    inner: Reference,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    times: BTreeMap<&'static str, u32>,
    newest: Timestamp,
    settled: BTreeSet<SettleId>,
}

impl Seen {
    fn saw(&mut self, what: &'static str, is_so: bool) {
        *self.times.entry(what).or_default() += u32::from(is_so);
    }

    fn take(&mut self, take: &Take<'_>, answer: &Result<Decisions, StoreError>) {
        let is_looking = take.charges.iter().all(|charge| charge.charging == Charging::Never);
        if is_looking {
            return;
        }
        self.saw("one charge", take.charges.len() == 1);
        self.saw("eight charges", take.charges.len() == 8);
        self.saw("an older time", take.now < self.newest);
        self.saw("the same time again", take.now == self.newest);
        let decisions = match answer {
            Ok(decisions) => decisions,
            Err(error) => {
                self.saw("misuse", error.kind() == StoreErrorKind::Misuse);
                self.saw("a clock behind", error.kind() == StoreErrorKind::ClockBehind);
                return;
            }
        };
        self.newest = self.newest.max(take.now);
        self.saw("an admission", decisions.is_admitted());
        self.saw("a refusal", !decisions.is_admitted());
        self.saw("a refusal of several", decisions.refusing().count() > 1);
        self.saw("a refusal for ever", !decisions.is_admitted() && decisions.retry_at().is_none());
        for (charge, decision) in take.charges.iter().zip(decisions) {
            let is_refused = !decision.is_allowed();
            self.saw("a shadow that would refuse", is_refused && !charge.enforce);
            self.saw(
                "a peek that refuses",
                is_refused && charge.enforce && charge.charging == Charging::Never,
            );
            self.saw("a refused charge that is written", is_refused && charge.charging == Charging::Always);
            self.saw("a cost of nothing", charge.cost == Units::ZERO);
            self.saw("a cost above the quota", charge.cost > charge.limit.quota());
            self.saw("a closed limit", charge.limit.quota() == Units::ZERO);
            self.saw("a debt", decision.left() < 0);
            self.saw(
                "a last unit",
                decision.is_allowed() && decision.left() == 0 && charge.cost > Units::ZERO,
            );
            let in_an_older_window =
                decision.reset_at().unix_ms() > take.now.unix_ms() + width(&charge.limit);
            self.saw("a newer window that decides", in_an_older_window && width(&charge.limit) > 0);
            self.saw(
                "a refusing fixed window",
                is_refused && matches!(charge.limit, Limit::FixedWindow { .. }),
            );
            self.saw(
                "a refusing sliding window",
                is_refused && matches!(charge.limit, Limit::SlidingWindow { .. }),
            );
            self.saw("a refusing bucket", is_refused && matches!(charge.limit, Limit::TokenBucket { .. }));
        }
    }
}

fn width(limit: &Limit) -> u64 {
    match limit {
        Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => window.ms(),
        Limit::TokenBucket { .. } => 0,
    }
}

impl Witness {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[async_trait]
impl Store for Witness {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        let answer = self.inner.take_now(take);
        if let Some(answer) = &answer {
            self.note(|seen| {
                seen.saw("a take at once", true);
                seen.take(take, answer);
            });
        }
        answer
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        let answer = self.inner.take(take).await;
        self.note(|seen| {
            seen.saw("a take that waits", true);
            seen.take(&take, &answer);
        });
        answer
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        self.note(|seen| {
            let is_new = seen.settled.insert(settle.id);
            seen.saw("a settlement", is_new);
            seen.saw("a settlement sent again", !is_new && !settle.corrections.is_empty());
            for correction in settle.corrections {
                seen.saw("a late correction", correction.stamp.window_end() <= settle.now);
                seen.saw("a correction by more", correction.delta > 0);
                seen.saw("a correction by less", correction.delta < 0);
            }
        });
        self.inner.settle(settle).await
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.note(|seen| seen.saw("something to forget", !forget.targets.is_empty()));
        self.inner.forget(forget).await
    }
}

#[tokio::test]
async fn a_history_has_something_of_everything() {
    for seed in SEEDS {
        let store = Witness::default();
        differential(&store, &Setting::default(), seed, STEPS).await.unwrap();
        store.note(|seen| {
            let rare: Vec<_> = seen.times.iter().filter(|(_, times)| **times < 5).collect();
            assert!(rare.is_empty(), "seed {seed}: {rare:?} of {:#?}", seen.times);
        });
    }
}

#[tokio::test]
async fn a_history_follows_from_its_seed() {
    let mut told = Vec::new();
    for seed in [7, 7, 8, u64::MAX] {
        let store = Witness::default();
        let setting = Setting { run: u64::MAX, ..Setting::default() };
        differential(&store, &setting, seed, 300).await.unwrap();
        store.note(|seen| told.push((seen.newest, seen.settled.clone(), seen.times.clone())));
    }
    assert_eq!(told[0], told[1]);
    assert!(told[1] != told[2] && told[2] != told[3]);
}

/// A store that is right for a while.
#[derive(Debug)]
struct Tiring(Reference, Mutex<u32>);

#[async_trait]
impl Store for Tiring {
    fn take_now(&self, _: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        None
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        let is_tired = {
            let mut left = self.1.lock().unwrap_or_else(PoisonError::into_inner);
            *left = left.saturating_sub(1);
            *left == 0
        };
        let later = if is_tired { take.now.saturating_add_ms(1) } else { take.now };
        self.0.take(Take { now: later, ..take }).await
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        self.0.settle(settle).await
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.0.forget(forget).await
    }
}

#[tokio::test]
async fn a_failure_names_the_seed_the_step_and_the_field() {
    let store = Tiring(Reference::new(), Mutex::new(30));
    let failure = differential(&store, &Setting::default(), 42, 500).await.unwrap_err();
    assert_eq!(failure.case(), "random_histories_are_answered_as_the_core_does");
    let step = failure.detail().split_once("seed 42, step ").and_then(|(_, rest)| rest.split_once(':'));
    assert!(
        step.is_some_and(|(step, _)| step.parse::<u32>().is_ok_and(|step| (15..=30).contains(&step))),
        "{failure}"
    );
    assert!(failure.detail().contains("decided_at of the whole take: the store says"), "{failure}");
    assert_eq!(failure.to_string(), format!("{failure:?}"));
}

/// A store that drops what is idle for the limit it was last written with, half a second later, as a server does whose keys expire.
#[derive(Debug, Default)]
struct Dropping(Mutex<Dropped>);

#[derive(Debug, Default)]
struct Dropped {
    kept: BTreeMap<Box<[u8]>, (State, Limit)>,
    settled: BTreeSet<SettleId>,
    newest: Timestamp,
}

impl Dropping {
    /// What is kept when this time is the newest one.
    fn kept(&self, now: Timestamp) -> MutexGuard<'_, Dropped> {
        let mut dropped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.newest = dropped.newest.max(now);
        let newest = dropped.newest;
        dropped.kept.retain(|_, (state, limit)| limit.idle_at(state).saturating_add_ms(500) > newest);
        dropped
    }
}

#[async_trait]
impl Store for Dropping {
    fn take_now(&self, _: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        None
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        let kept = &mut self.kept(take.now).kept;
        let keys: Vec<_> = take.charges.iter().map(|charge| charge.key.to_bytes()).collect();
        let found: Vec<_> = keys.iter().map(|key| kept.get(key).map(|(state, _)| *state)).collect();
        Decisions::decide(&take, found, |at, state| {
            if let Some(state) = state {
                kept.insert(keys[at].clone(), (state, take.charges[at].limit));
            }
        })
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        settle.check()?;
        let dropped = &mut *self.kept(settle.now);
        if dropped.settled.insert(settle.id) {
            for correction in settle.corrections {
                let (key, limit) = (correction.key.to_bytes(), correction.limit);
                let found = dropped.kept.get(&key).map(|(state, _)| *state);
                let settled = limit.settle(found, correction.stamp, correction.delta, settle.now);
                if let Some(state) = settled {
                    dropped.kept.insert(key, (state, limit));
                }
            }
        }
        Ok(())
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        forget.check()?;
        let mut dropped = self.kept(forget.now);
        for target in forget.targets {
            dropped.kept.remove(&target.key.to_bytes());
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_history_hangs_on_nothing_that_is_idle() {
    for seed in SEEDS {
        differential(&Dropping::default(), &Setting::default(), seed, 5_000).await.unwrap();
    }
}
