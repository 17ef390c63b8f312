//! The plainest store there is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tollgate_core::State;
use tollgate_store::{Decisions, Forget, Key, Settle, SettleId, Store, StoreError, Take};

/// The store that others are measured against, and the simplest example of how to write one.
///
/// It keeps every state and every settlement's id for ever, so it is for tests alone.
///
/// ```
/// use tollgate_core::{Limit, Timestamp, Window};
/// use tollgate_store::{Charge, Key, Name, Store, Take};
/// use tollgate_suite::Reference;
///
/// let store = Reference::new();
/// let charge = Charge::new(Key::new(Name::new("ask"), &[]), Limit::fixed(1, Window::DAY));
/// let take = Take { charges: &[charge], now: Timestamp::EPOCH };
/// let admitted = store.take_now(&take).map(|answer| answer.is_ok_and(|decisions| decisions.is_admitted()));
/// assert_eq!(admitted, Some(true));
/// ```
#[derive(Debug, Default)]
pub struct Reference {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    states: BTreeMap<Box<[u8]>, State>,
    settled: BTreeSet<SettleId>,
}

impl Reference {
    /// A store that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is kept under `key`.
    pub(crate) fn state(&self, key: &Key<'_>) -> Option<State> {
        self.kept().states.get(&key.to_bytes()).copied()
    }

    /// Each call holds the lock from its first read to its last write: that is all there is to "all or nothing".
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A panic cannot leave half a take behind: nothing between the writes of one can panic.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, take: &Take<'_>) -> Result<Decisions, StoreError> {
        let states = &mut self.kept().states;
        let keys: Vec<_> = take.charges.iter().map(|charge| charge.key.to_bytes()).collect();
        let found: Vec<_> = keys.iter().map(|key| states.get(key).copied()).collect();
        Decisions::decide(take, found, |at, state| {
            if let Some(state) = state {
                states.insert(keys[at].clone(), state);
            }
        })
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for Reference {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        Some(self.decide(take))
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.decide(&take)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        settle.check()?;
        let kept = &mut *self.kept();
        if kept.settled.insert(settle.id) {
            for correction in settle.corrections {
                let key = correction.key.to_bytes();
                let found = kept.states.get(&key).copied();
                let settled = correction.limit.settle(found, correction.stamp, correction.delta, settle.now);
                if let Some(state) = settled {
                    kept.states.insert(key, state);
                }
            }
        }
        Ok(())
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        forget.check()?;
        let kept = &mut *self.kept();
        for target in forget.targets {
            kept.states.remove(&target.key.to_bytes());
        }
        Ok(())
    }
}
