//! Every key has a lifetime, after every call of a long history and after every case of the suite.

use async_trait::async_trait;
use tollgate_store::{Decisions, Forget, Settle, Store, StoreError, Take};
use tollgate_suite::{Door, Setting, cases, differential};
use tollgate_testbed::Value;

use crate::served::Served;

/// A store whose keys are looked at after each call.
#[derive(Debug)]
struct Watched(Served);

impl Watched {
    fn look(&self) {
        let immortal = "local found = {} for _, key in ipairs(redis.call('KEYS', '*')) do \
                        if redis.call('PTTL', key) < 0 then found[#found + 1] = key end end return found";
        let found = self.0.server.run(&["EVAL", immortal, "0"]);
        assert_eq!(found, Value::Array(Vec::new()), "keys without a lifetime");
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for Watched {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        self.0.take_now(take)
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        let answer = self.0.take(take).await;
        self.look();
        answer
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        let answer = self.0.settle(settle).await;
        self.look();
        answer
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        let answer = self.0.forget(forget).await;
        self.look();
        answer
    }
}

#[tokio::test]
async fn every_key_has_a_lifetime_after_each_call() {
    let watched = Watched(Served::with(|builder| builder.resends(1)));
    differential(&watched, &Setting::default(), 11, 500).await.expect("the store answers as the core does");
}

#[tokio::test]
async fn every_key_has_a_lifetime_after_each_case() {
    let watched = Watched(Served::start());
    for (case, run) in cases().iter().zip(0..) {
        // The cases that try thousands of points are not about lifetimes, nor are those that race.
        if !matches!(case.group(), "exact" | "concurrency") {
            let setting = Setting { run, ..Setting::default() };
            case.run(&watched, &setting, Door::Take).await.expect("the store does what it owes");
        }
    }
}
