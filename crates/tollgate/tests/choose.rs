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

/// What is chosen where both stores are built in, and what is asked for where this one is not.
fn assert_chosen(variables: &[(&str, &str)], kind: &str) {
    let (is_built_in, feature) = match kind {
        "UpstashStore" => (cfg!(feature = "upstash"), "feature `upstash`"),
        _ => (cfg!(feature = "redis"), "feature `redis`"),
    };
    let chosen = chosen(variables);
    assert!(chosen.contains(if is_built_in { kind } else { feature }), "{variables:?}: {chosen}");
}

#[test]
fn upstash_goes_before_redis_and_redis_before_memory() {
    assert_chosen(&UPSTASH, "UpstashStore");
    assert_chosen(&KV, "UpstashStore");
    assert_chosen(&[REDIS], "RedisStore");
    assert_chosen(&[REDIS, UPSTASH[0], UPSTASH[1]], "UpstashStore");
    // Only a complete pair counts.
    assert_chosen(&[REDIS, UPSTASH[0]], "RedisStore");
    // As a reader of `.env` files leaves them.
    assert_chosen(&[REDIS, KV[0], ("KV_REST_API_TOKEN", "\"\"")], "RedisStore");
    assert_chosen(&[("REDIS_URL", " \"redis://:secret@127.0.0.1:1\"\n")], "RedisStore");
}

#[test]
fn what_is_set_wrongly_is_never_memory() {
    for (variables, is_built_in, named) in [
        (&[("REDIS_URL", "http://127.0.0.1:6379")][..], cfg!(feature = "redis"), "REDIS_URL"),
        (
            &[("KV_REST_API_URL", "redis://secret@h"), ("KV_REST_API_TOKEN", "secret")],
            cfg!(feature = "upstash"),
            "KV_REST_API_URL",
        ),
        (
            &[("KV_REST_API_URL", "https://kv.upstash.io"), ("KV_REST_API_TOKEN", "a secret")],
            cfg!(feature = "upstash"),
            "KV_REST_API_TOKEN",
        ),
    ] {
        let text = chosen(variables);
        assert!(text.contains(if is_built_in { named } else { "feature `" }), "{text}");
    }
    let odd = LimiterOptions::new("uploads", 1, Window::MINUTE, OnOutage::Deny).namespace("{limit}");
    for variables in [&[REDIS][..], &UPSTASH] {
        assert!(matches!(limiter(odd.clone(), env(variables)), Err(OptionsError::Env(_))), "{variables:?}");
    }
    // Memory has no prefix; but what one of the others would refuse must not come up only where it is set.
    let is_refused = matches!(limiter(odd, env(&[])), Err(OptionsError::Env(_)));
    assert_eq!(is_refused, cfg!(any(feature = "upstash", feature = "redis")));
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
