//! A store as small as one can be, that answers at once, later, or not at all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use tollgate_core::State;
use tollgate_guard::{
    Charges, Guard, Limit, ManualClock, OnOutage, Policy, StoreError, StoreErrorKind, Window,
};
use tollgate_store::{Decisions, Forget, Settle, Store, Take};

/// A second after the beginning of a day and an hour and a minute.
pub(crate) const START_MS: u64 = 1_699_920_001_000;

pub(crate) const BURST: Policy<1> =
    Policy::new("ask-burst", Limit::fixed(20, Window::MINUTE), OnOutage::Deny);
pub(crate) const ASK: Policy<1> = Policy::new("ask", Limit::fixed(2, Window::DAY), OnOutage::Deny);
pub(crate) const HIDDEN: Policy<0> =
    Policy::new("ask-all", Limit::fixed(3, Window::DAY), OnOutage::Deny).hidden();
pub(crate) const CLOSED: Policy<0> = Policy::new("closed", Limit::fixed(0, Window::DAY), OnOutage::Deny);
pub(crate) const SLIDING: Policy<0> =
    Policy::new("chat", Limit::sliding(2, Window::from_ms(1_500)), OnOutage::Allow);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Answers at once.
    Now,
    /// Answers after the caller has waited for it once.
    Later,
    /// Fails at once.
    Fail,
    /// Takes, later, and fails to settle.
    Unsettled,
}

#[derive(Debug)]
pub(crate) struct TinyStore {
    states: Mutex<HashMap<Box<[u8]>, State>>,
    mode: Mutex<Mode>,
}

impl TinyStore {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { states: Mutex::default(), mode: Mutex::new(mode) }
    }

    pub(crate) fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    fn decide(&self, take: &Take<'_>) -> Result<Decisions, StoreError> {
        let mut states = self.states.lock().unwrap();
        let keys: Vec<_> = take.charges.iter().map(|charge| charge.key.to_bytes()).collect();
        let found: Vec<_> = keys.iter().map(|key| states.get(key).copied()).collect();
        Decisions::decide(take, found, |at, state| match state {
            Some(state) => drop(states.insert(keys[at].clone(), state)),
            None => drop(states.remove(&keys[at])),
        })
    }
}

#[async_trait]
impl Store for TinyStore {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        match *self.mode.lock().unwrap() {
            Mode::Now => Some(self.decide(take)),
            Mode::Fail => {
                Some(Err(StoreError::new(StoreErrorKind::Unreachable, "the store is switched off")))
            }
            Mode::Later | Mode::Unsettled => None,
        }
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        tokio::task::yield_now().await;
        self.decide(&take)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        tokio::task::yield_now().await;
        if *self.mode.lock().unwrap() == Mode::Unsettled {
            return Err(StoreError::new(StoreErrorKind::Busy, "the store settles nothing"));
        }
        let mut states = self.states.lock().unwrap();
        for correction in settle.corrections {
            let key = correction.key.to_bytes();
            let found = states.get(&key).copied();
            let settled = correction.limit.settle(found, correction.stamp, correction.delta, settle.now);
            match settled {
                Some(state) => drop(states.insert(key, state)),
                None => drop(states.remove(&key)),
            }
        }
        Ok(())
    }

    async fn forget(&self, _: Forget<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A guard over every policy above, and its clock.
pub(crate) fn guard(mode: Mode) -> (Arc<Guard<TinyStore>>, ManualClock) {
    let clock = ManualClock::at_unix_ms(START_MS);
    let guard = Guard::builder(TinyStore::new(mode))
        .policy(BURST)
        .policy(ASK)
        .policy(HIDDEN)
        .policy(CLOSED)
        .policy(SLIDING)
        .clock(clock.clone())
        .build()
        .unwrap();
    (Arc::new(guard), clock)
}

pub(crate) fn ask(visitor: &str) -> Charges {
    Charges::from([BURST.charge(visitor), ASK.charge(visitor), HIDDEN.charge(())])
}
