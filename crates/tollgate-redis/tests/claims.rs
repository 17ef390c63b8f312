//! Claims on a real server: the suite, lifetimes, lost answers, values that nobody here writes.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use tollgate_core::{Timestamp, Window};
use tollgate_redis::RedisStore;
use tollgate_store::{
    Claim, ClaimKey, ClaimToken, Claimed, Claims, Confirm, Hold, Key, KeyParts as _, Name, Release,
    StoreError, StoreErrorKind,
};
use tollgate_suite::{CLAIM_STEPS, Setting, claim_cases, claims_differential};
use tollgate_testbed::{Proxy, RedisServer, Served, Value};

use crate::served::served;

mod owes {
    use crate::served::served;

    tollgate_suite::certify_claims! { #[tokio::test] served() }
}

/// A store whose keys are looked at after each call.
#[derive(Debug)]
struct Watched(Served<RedisStore>);

impl Watched {
    fn look(&self) {
        let immortal = "local found = {} for _, key in ipairs(redis.call('KEYS', '*')) do \
                        if redis.call('PTTL', key) < 0 then found[#found + 1] = key end end return found";
        let found = self.0.redis.run(&["EVAL", immortal, "0"]);
        assert_eq!(found, Value::Array(Vec::new()), "keys without a lifetime");
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for Watched {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        let answer = self.0.claim(claim).await;
        self.look();
        answer
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        let answer = self.0.renew(claim).await;
        self.look();
        answer
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        let answer = self.0.confirm(confirm).await;
        self.look();
        answer
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        let answer = self.0.release(release).await;
        self.look();
        answer
    }
}

#[tokio::test]
async fn every_claim_has_a_lifetime_after_each_call() {
    let watched = Watched(served());
    claims_differential(&watched, &Setting::default(), 11, CLAIM_STEPS / 2).await.expect("it owes this");
    for case in claim_cases().iter().filter(|case| case.name() != "a_race_is_won_by_one") {
        case.run(&watched, &Setting { run: 1, ..Setting::default() }).await.expect("it owes this");
    }
}

const NOW: Timestamp = Timestamp::from_unix_ms(1_796_040_000_000);

fn claim(key: ClaimKey<'_>, token: u128) -> Claim<'_> {
    Claim { key, token: ClaimToken::new(token), lease: Window::MINUTE, now: NOW }
}

fn confirm(key: ClaimKey<'_>, token: u128) -> Confirm<'_> {
    Confirm { key, token: ClaimToken::new(token), retention: Window::WEEK, now: NOW }
}

fn lives_ms(server: &RedisServer, key: &str) -> i64 {
    match server.run(&["PTTL", key]) {
        Value::Int(ms) => ms,
        other => panic!("a lifetime is a number, not {other:?}"),
    }
}

#[tokio::test]
async fn a_claim_is_kept_where_no_count_is() {
    let served = served();
    let parts = ("17", "72d3162e-cc78").into_parts();
    let key = ClaimKey::Key(Key::new(Name::new("github"), &parts));
    assert!(matches!(served.claim(claim(key, 7)).await, Ok(Claimed::Ours { .. })));
    let name = "limit:%:claim:github:17:72d3162e-cc78";
    assert_eq!(served.redis.keys(), [name]);
    let lives = lives_ms(&served.redis, name);
    assert!((30_000..=61_000).contains(&lives), "the lease and a second, not {lives}");
    assert_eq!(served.confirm(confirm(key, 7)).await.expect("it answers"), Hold::Ours);
    let lives = lives_ms(&served.redis, name);
    assert!((604_770_000..=604_801_000).contains(&lives), "the retention and a second, not {lives}");
}

#[tokio::test]
async fn what_another_program_stores_under_a_literal_key_is_done() {
    let served = served();
    let name = "github-delivery:72d3162e-cc78";
    served.redis.run(&["SET", name, "1", "NX", "EX", "86400"]);
    let key = ClaimKey::Literal(name);
    assert_eq!(served.claim(claim(key, 7)).await.expect("it answers"), Claimed::Done);
    assert_eq!(served.confirm(confirm(key, 7)).await.expect("it answers"), Hold::Lost);
    let release = Release { key, token: ClaimToken::new(7) };
    served.release(release).await.expect("it answers");
    assert_eq!(served.redis.run(&["GET", name]), Value::BulkString(b"1".into()), "it is left alone");
    // The other way round, such a program finds that the key is there.
    let ours = ClaimKey::Literal("github-delivery:other");
    assert!(matches!(served.claim(claim(ours, 7)).await, Ok(Claimed::Ours { .. })));
    let theirs = served.redis.run(&["SET", "github-delivery:other", "1", "NX", "EX", "86400"]);
    assert_eq!(theirs, Value::Nil);
}

#[tokio::test]
async fn what_nobody_here_writes_is_an_error_and_is_left_alone() {
    let served = served();
    let parts = "1".into_parts();
    let key = ClaimKey::Key(Key::new(Name::new("github"), &parts));
    let name = "limit:%:claim:github:1";
    let token = "0".repeat(32);
    let texts = [
        "1",
        "",
        "p:",
        &format!("x:{token}:1"),
        &format!("p:{token}:"),
        &format!("p:{token}:1:2"),
        "p:12:34",
    ];
    for text in texts {
        served.redis.run(&["SET", name, text]);
        let errors = [
            served.claim(claim(key, 7)).await.err(),
            served.renew(claim(key, 7)).await.err(),
            served.confirm(confirm(key, 7)).await.err(),
            served.release(Release { key, token: ClaimToken::new(7) }).await.err(),
        ];
        for error in errors {
            assert_eq!(error.map(|error| error.kind()), Some(StoreErrorKind::Reject), "{text:?}");
        }
        assert_eq!(served.redis.run(&["GET", name]), Value::BulkString(text.as_bytes().into()));
    }
    served.redis.run(&["DEL", name]);
    served.redis.run(&["LPUSH", name, "p"]);
    let error = served.claim(claim(key, 7)).await.expect_err("a list is no claim");
    assert_eq!(error.kind(), StoreErrorKind::Reject);
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_the_claim_is_still_ours() {
    let served = served();
    let proxy = Proxy::start(served.redis.address());
    let store = RedisStore::builder(&format!("redis://{}", proxy.address()))
        .deadline(Duration::from_secs(20))
        .build()
        .expect("this is a URL");
    let parts = "1".into_parts();
    let key = ClaimKey::Key(Key::new(Name::new("github"), &parts));
    // The script is known, and the connection is open.
    store.release(Release { key, token: ClaimToken::new(9) }).await.expect("it answers");
    let _ = store.claim(claim(ClaimKey::Literal("warm"), 9)).await.expect("it answers");
    let _ = store.confirm(confirm(ClaimKey::Literal("warm"), 9)).await.expect("it answers");
    proxy.lose(1);
    assert!(matches!(store.claim(claim(key, 7)).await, Ok(Claimed::Ours { .. })));
    assert!(matches!(served.claim(claim(key, 8)).await, Ok(Claimed::Running { .. })));
    proxy.lose(1);
    assert_eq!(store.confirm(confirm(key, 7)).await.expect("it answers"), Hold::Ours);
    assert_eq!(served.claim(claim(key, 8)).await.expect("it answers"), Claimed::Done);
}

#[tokio::test]
async fn of_many_machines_that_claim_at_once_one_wins() {
    let served = served();
    let patient = |_| RedisStore::builder(&served.redis.url()).deadline(Duration::from_secs(20)).build();
    let machines: Vec<_> = (0..3).map(|at| patient(at).expect("this is a URL")).collect();
    for id in ["a", "b", "c", "d"] {
        let parts = id.into_parts();
        let key = ClaimKey::Key(Key::new(Name::new("github"), &parts));
        let claims = (0..30).map(|at| machines[at % machines.len()].claim(claim(key, at as u128)));
        let claimed = join_all(claims).await;
        let won = claimed.iter().filter(|claimed| matches!(claimed, Ok(Claimed::Ours { .. })));
        assert_eq!(won.count(), 1);
        assert!(claimed.iter().all(Result::is_ok), "{claimed:?}");
    }
}
