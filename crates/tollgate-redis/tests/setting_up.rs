//! What a store can be made of.

use std::time::Duration;

use tollgate_redis::{RedisConfigError, RedisStore};

#[test]
fn what_cannot_be_used_is_refused_before_the_first_call() {
    for url in [
        "",
        "localhost:6379",
        "http://localhost",
        "redis://",
        "redis://:6379",
        "redis://host:port",
        "redis://host/zero",
    ] {
        assert_eq!(RedisStore::connect(url).unwrap_err(), RedisConfigError::Url, "{url}");
    }
    assert_eq!(RedisStore::connect("rediss://host:6380#insecure").unwrap_err(), RedisConfigError::Insecure);
    for deadline in [Duration::ZERO, Duration::from_millis(60_001), Duration::MAX] {
        let refused = RedisStore::builder("redis://host").deadline(deadline).build();
        assert_eq!(refused.unwrap_err(), RedisConfigError::Deadline, "{deadline:?}");
    }
    for good in [
        "redis://localhost",
        " redis://user:hunter2@localhost:6379/3\n",
        "valkey://localhost",
        "redis://[::1]:6379",
        "unix:///run/redis.sock",
        "redis+unix:///run/redis.sock",
        "redis://localhost?protocol=resp3",
    ] {
        assert!(RedisStore::connect(good).is_ok(), "{good}");
    }
}

#[test]
#[cfg(feature = "tls")]
fn certificates_are_read_when_the_store_is_made() {
    assert!(RedisStore::connect("rediss://localhost:6380").is_ok());
    for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let refused = RedisStore::builder("rediss://localhost:6380").root_certificates(pem).build();
        assert_eq!(refused.unwrap_err(), RedisConfigError::Certificate, "{pem}");
    }
}

#[test]
fn nothing_shows_a_password() {
    let url = "redis://user:hunter2@localhost:6379";
    let builder = RedisStore::builder(url);
    let store = RedisStore::connect(url).expect("this is a URL");
    for shown in [format!("{builder:?}"), format!("{store:?}")] {
        assert!(!shown.contains("hunter2") && !shown.contains("user"), "{shown}");
    }
    for url in ["redis://user:hunter2@localhost:port", "redis//user:hunter2@localhost"] {
        let error = RedisStore::connect(url).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
