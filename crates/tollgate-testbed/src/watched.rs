//! Every key has a lifetime, and none a longer one than its count needs.

use std::{
    collections::HashMap,
    fmt::Debug,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use tollgate_core::{Limit, Window};
use tollgate_script::{Prefix, take_call};
use tollgate_store::{Charge, Decisions, Forget, Settle, Store, StoreError, Take};

use crate::Served;

/// How much longer than it is needed a key may live.
const SLACK_MS: i64 = 1_000;

/// A store whose keys in Redis are looked at after each call, whatever is called: there may be none that stays for ever, no
/// counter that stays for more than two windows, and no bucket that stays when it is full.
#[derive(Debug)]
pub struct Watched<S, G = ()> {
    served: Served<S, G>,
    /// The limits that were ever charged, by what their keys begin with.
    limits: Mutex<HashMap<String, Vec<Limit>>>,
}

impl<S: Store, G: Debug> Watched<S, G> {
    /// Watches a store with the default prefix.
    #[must_use]
    pub fn new(served: Served<S, G>) -> Self {
        Self { served, limits: Mutex::default() }
    }

    /// Remembers what is charged: a key's own name does not tell its window.
    fn note(&self, take: &Take<'_>) {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        for charge in take.charges {
            let alone: &[Charge<'_>] = std::slice::from_ref(charge);
            let call = take_call(&Prefix::default(), &Take { charges: alone, ..*take }, None);
            for key in call.iter().flat_map(|call| call.keys.iter()) {
                let known = limits.entry(without_window(key, &charge.limit).to_owned()).or_default();
                if !known.contains(&charge.limit) {
                    known.push(charge.limit);
                }
            }
        }
    }

    fn look(&self) {
        let all = "local found = {} for at, key in ipairs(redis.call('KEYS', '*')) do \
                   local is_hash = redis.call('TYPE', key).ok == 'hash' \
                   found[at] = {key, redis.call('PTTL', key), is_hash and redis.call('HGET', key, 'tokens') or ''} \
                   end return found";
        let found: Vec<(String, i64, String)> =
            redis::from_redis_value(self.served.redis.run(&["EVAL", all, "0"])).expect("keys are text here");
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, lives_ms, tokens) in found {
            assert!(lives_ms >= 0, "{key} stays for ever");
            if key.starts_with("limit:%:") {
                continue;
            }
            let known = limits.get(&key).or_else(|| limits.get(key.rsplit_once(':')?.0));
            let most_ms = known.into_iter().flatten().map(|limit| most_ms(limit, &tokens)).max();
            let most_ms = most_ms.unwrap_or_else(|| panic!("{key} was never charged"));
            assert!(
                lives_ms <= most_ms.saturating_add(SLACK_MS),
                "{key} stays for {lives_ms} ms, {most_ms} ms would do"
            );
        }
    }
}

fn without_window<'k>(key: &'k str, limit: &Limit) -> &'k str {
    match limit {
        Limit::TokenBucket { .. } => key,
        Limit::FixedWindow { .. } | Limit::SlidingWindow { .. } => {
            key.rsplit_once(':').map_or(key, |(key, _)| key)
        }
    }
}

/// Two windows, or until a bucket of so many tokens is full.
fn most_ms(limit: &Limit, tokens: &str) -> i64 {
    let ms = |window: &Window| i64::try_from(window.ms()).unwrap_or(i64::MAX);
    match limit {
        Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => 2 * ms(window),
        Limit::TokenBucket { capacity, refill, interval } => {
            let tokens: i64 = tokens.parse().expect("a bucket has whole tokens");
            let (capacity, refill) = (capacity.get().cast_signed(), refill.get().cast_signed());
            let refills = capacity.saturating_sub(tokens).div_euclid(refill) + 1;
            refills.saturating_mul(ms(interval))
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store, G: Debug + Send + Sync + 'static> Store for Watched<S, G> {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        self.served.take_now(take)
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.note(&take);
        let answer = self.served.store.take(take).await;
        self.look();
        answer
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        let answer = self.served.store.settle(settle).await;
        self.look();
        answer
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        let answer = self.served.store.forget(forget).await;
        self.look();
        answer
    }
}
