//! A limiter's answers, in each of its four situations.

use std::{sync::Arc, time::Duration};

use crate::common::{Moody, NOON};
use tollgate_guard::{
    Clock, Limit, LimitResult, Limiter, ManualClock, OnOutage, OwnedPolicy, StoreErrorKind, Timestamp, Window,
};

fn limiter(limit: Limit, on_outage: OnOutage) -> (Limiter, Arc<Moody>, ManualClock) {
    let (store, clock) = (Moody::new(), ManualClock::at_unix_ms(NOON));
    let policy = OwnedPolicy::try_new("uploads", 1, limit, on_outage).unwrap();
    (Limiter::new(policy, store.clone(), clock.clone()).unwrap(), store, clock)
}

#[tokio::test]
async fn allowed_and_refused() {
    let (limiter, _store, clock) = limiter(Limit::sliding(2, Window::MINUTE), OnOutage::Deny);
    let window_end = Timestamp::from_unix_ms(NOON + 60_000);
    for remaining in [1, 0] {
        let result = limiter.limit("one").await;
        assert_eq!(result, LimitResult { success: true, reset: window_end, remaining, degraded: false });
    }
    let refused = limiter.limit("one").await;
    assert!(!refused.success && !refused.degraded && refused.remaining == 0);
    // Two weigh at most one from the middle of the next window on.
    assert_eq!(refused.reset.unix_ms(), NOON + 90_000);
    clock.set_unix_ms(NOON + 89_999);
    assert!(!limiter.limit("one").await.success);
    clock.advance(Duration::from_millis(1));
    assert!(limiter.limit("one").await.success);
}

#[tokio::test]
async fn when_the_store_is_gone() {
    for (on_outage, expected) in [
        (
            OnOutage::Allow,
            LimitResult {
                success: true,
                reset: Timestamp::from_unix_ms(NOON),
                remaining: 0,
                degraded: false,
            },
        ),
        (
            OnOutage::Deny,
            LimitResult {
                success: false,
                reset: Timestamp::from_unix_ms(NOON + 60_000),
                remaining: 0,
                degraded: true,
            },
        ),
    ] {
        let (limiter, store, _clock) = limiter(Limit::sliding(2, Window::MINUTE), on_outage);
        store.fail(Some(StoreErrorKind::Timeout));
        assert_eq!(limiter.limit("one").await, expected);
    }
}

#[tokio::test]
async fn any_text_is_a_key_of_its_own() {
    let (limiter, _store, clock) = limiter(Limit::fixed(1, Window::DAY), OnOutage::Deny);
    let long = "x".repeat(10_000);
    let keys = ["", ":", "%", "%3A", "a:b", "a", "{a}", "\0", "\n", "🦀", &long, &long[1..]];
    for key in keys {
        assert!(limiter.limit(key).await.success, "{key:?}");
    }
    for key in keys {
        assert!(!limiter.limit(key).await.success, "{key:?}");
    }
    assert_eq!(limiter.guard().now(), clock.now());
}

#[tokio::test]
async fn a_closed_limit_never_resets() {
    let (limiter, _store, _clock) = limiter(Limit::fixed(0, Window::DAY), OnOutage::Deny);
    let result = limiter.limit("one").await;
    assert_eq!(result, LimitResult { success: false, reset: Timestamp::MAX, remaining: 0, degraded: false });
}
