//! Which store an environment gets, and what it is told if it gets none.

use std::{error::Error, sync::Arc};

use tollgate::{
    EnvError, LimiterOptions, ManualClock, MemoryStore, OnOutage, OptionsError, Share, StoreKind, Window,
    claims, limiter, store,
};

const UPSTASH: [(&str, &str); 2] =
    [("UPSTASH_REDIS_REST_URL", "https://name.upstash.io"), ("UPSTASH_REDIS_REST_TOKEN", "AbCdSecretSecret")];
const KV: [(&str, &str); 2] =
    [("KV_REST_API_URL", "https://kv.upstash.io"), ("KV_REST_API_TOKEN", "AbCdSecretSecret")];
const REDIS: (&str, &str) = ("REDIS_URL", "redis://:secret@127.0.0.1:1");

fn env<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
}

/// The kind of store, or the whole text of the error; the same for counts and for claims.
fn chosen(variables: &[(&str, &str)]) -> String {
    let counts = told(store(env(variables)));
    assert_eq!(told(claims(env(variables))), counts);
    counts
}

fn told(store: Result<impl std::fmt::Debug, EnvError>) -> String {
    match store {
        Ok(store) => {
            let debug = format!("{store:?}");
            assert!(!debug.to_lowercase().contains("secret"), "{debug}");
            ["UpstashStore", "RedisStore", "MemoryStore"]
                .into_iter()
                .find(|kind| debug.contains(kind))
                .unwrap_or("?")
                .to_owned()
        }
        Err(error) => whole(&error),
    }
}

fn whole(error: &EnvError) -> String {
    let text = format!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default());
    assert!(
        !text.to_lowercase().contains("secret") && !format!("{error:?}").to_lowercase().contains("secret"),
        "{text}"
    );
    text
}

#[test]
fn nothing_set_is_memory() {
    for variables in [
        &[][..],
        &[("REDIS_URL", "")],
        &[("REDIS_URL", "  ")],
        &[("REDIS_URL", "''")],
        &[("KV_REST_API_URL", "\"\""), ("KV_REST_API_TOKEN", "\"\"")],
    ] {
        assert_eq!(chosen(variables), "MemoryStore", "{variables:?}");
        assert_eq!(StoreKind::of(env(variables)).to_string(), "memory");
    }
}

#[test]
#[cfg(all(feature = "upstash", feature = "redis"))]
fn upstash_goes_before_redis_and_redis_before_memory() {
    assert_eq!(chosen(&UPSTASH), "UpstashStore");
    assert_eq!(chosen(&KV), "UpstashStore");
    assert_eq!(chosen(&[REDIS]), "RedisStore");
    assert_eq!(chosen(&[REDIS, UPSTASH[0], UPSTASH[1]]), "UpstashStore");
    assert_eq!(chosen(&[REDIS, UPSTASH[0]]), "RedisStore", "only a complete pair counts");
    // As a reader of `.env` files leaves them.
    assert_eq!(chosen(&[REDIS, KV[0], ("KV_REST_API_TOKEN", "\"\"")]), "RedisStore");
    assert_eq!(chosen(&[("REDIS_URL", " \"redis://:secret@127.0.0.1:1\"\n")]), "RedisStore");
}

#[test]
#[cfg(all(feature = "upstash", feature = "redis"))]
fn what_is_set_wrongly_is_never_memory() {
    for (variables, named) in [
        (&[("REDIS_URL", "http://127.0.0.1:6379")][..], "REDIS_URL"),
        (&[("KV_REST_API_URL", "redis://secret@h"), ("KV_REST_API_TOKEN", "secret")], "KV_REST_API_URL"),
        (
            &[("KV_REST_API_URL", "https://kv.upstash.io"), ("KV_REST_API_TOKEN", "a secret")],
            "KV_REST_API_TOKEN",
        ),
    ] {
        let text = chosen(variables);
        assert!(text.contains(named), "{text}");
    }
    let odd = LimiterOptions::new("uploads", 1, Window::MINUTE, OnOutage::Deny).namespace("{limit}");
    for variables in [&[REDIS][..], &UPSTASH, &[]] {
        assert!(matches!(limiter(odd.clone(), env(variables)), Err(OptionsError::Env(_))), "{variables:?}");
    }
}

#[test]
#[cfg(not(feature = "upstash"))]
fn a_store_that_is_not_built_in_is_asked_for() {
    assert!(chosen(&UPSTASH).contains("feature `upstash`"));
    assert!(chosen(&KV).contains("feature `upstash`"));
}

#[test]
#[cfg(not(feature = "redis"))]
fn redis_that_is_not_built_in_is_asked_for() {
    assert!(chosen(&[REDIS]).contains("feature `redis`"));
}

#[tokio::test]
async fn options_make_a_sliding_window() -> Result<(), OptionsError> {
    let clock = ManualClock::at_unix_ms(1_700_000_040_000);
    let options = LimiterOptions::new("uploads", 2, Window::MINUTE, OnOutage::Deny);
    let limiter = options.on(Arc::new(MemoryStore::new()), clock.clone())?;
    assert!(limiter.limit("one").await.success && limiter.limit("one").await.success);
    assert!(!limiter.limit("one").await.success);
    // A fixed window would admit two at once here; of a sliding one both still weigh.
    clock.set_unix_ms(1_700_000_040_000 + 60_000);
    assert!(!limiter.limit("one").await.success);
    Ok(())
}

#[test]
fn options_that_cannot_be_are_refused() {
    let on = |options: LimiterOptions| options.on(Arc::new(MemoryStore::new()), ManualClock::default());
    let new = |name: &str, limit| LimiterOptions::new(name, limit, Window::MINUTE, OnOutage::Deny);
    assert!(matches!(on(new("Uploads", 1)), Err(OptionsError::Policy(_))));
    assert!(matches!(on(new("uploads", u64::MAX)), Err(OptionsError::Limit(_))));
    let local = LimiterOptions::new("uploads", 2, Window::MINUTE, OnOutage::Local(Share::percent(50)));
    assert!(matches!(on(local), Err(OptionsError::Limiter(_))));
}
