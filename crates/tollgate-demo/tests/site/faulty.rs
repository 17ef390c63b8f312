//! The store behind the switch owes what every store owes, and fails whole when it is off.

use tollgate_core::{Limit, Timestamp, Window};
use tollgate_demo::{Faulty, Switch};
use tollgate_memory::MemoryStore;
use tollgate_store::{
    Charge, Claim, ClaimKey, ClaimToken, Claimed, Claims, Confirm, Forget, Hold, Key, KeyParts, Name,
    Release, Settle, SettleId, Store, StoreError, StoreErrorKind, Take, Target,
};

mod owes {
    use super::{Faulty, MemoryStore, Switch};

    tollgate_suite::certify! { #[tokio::test] Faulty::new(MemoryStore::new(), Switch::new()) }

    mod claims {
        use super::{Faulty, MemoryStore, Switch};

        tollgate_suite::certify_claims! { #[tokio::test] Faulty::new(MemoryStore::new(), Switch::new()) }
    }
}

#[tokio::test]
async fn switched_off_every_call_fails_and_nothing_is_written() {
    let switch = Switch::new();
    let store = Faulty::new(MemoryStore::new(), switch.clone());
    let parts = "203.0.113.7".into_parts();
    let (key, limit) = (Key::new(Name::new("ask"), &parts), Limit::fixed(15, Window::DAY));
    let (charge, now) = (Charge::new(key, limit), Timestamp::from_unix_ms(1_700_000_000_000));
    let take = Take { charges: &[charge], now };

    switch.set(false);
    let is_gone = |error: StoreError| error.kind() == StoreErrorKind::Unreachable;
    assert!(store.take_now(&take).unwrap().is_err_and(is_gone));
    assert!(store.take(take).await.is_err_and(is_gone));
    let settle = Settle { id: SettleId::new(1), corrections: &[], now };
    assert!(store.settle(settle).await.is_err_and(is_gone));
    let forget = Forget { targets: &[Target { key, limit }], now };
    assert!(store.forget(forget).await.is_err_and(is_gone));

    let (key, token) = (ClaimKey::Literal("delivery:7"), ClaimToken::new(7));
    let claim = Claim { key, token, lease: Window::MINUTE, now };
    let confirm = Confirm { key, token, retention: Window::DAY, now };
    assert!(store.claim(claim).await.is_err_and(is_gone));
    assert!(store.renew(claim).await.is_err_and(is_gone));
    assert!(store.confirm(confirm).await.is_err_and(is_gone));
    assert!(store.release(Release { key, token }).await.is_err_and(is_gone));

    switch.set(true);
    assert!(matches!(store.claim(claim).await, Ok(Claimed::Ours { .. })), "nobody had it");
    assert_eq!(store.confirm(confirm).await.unwrap(), Hold::Ours);
    assert_eq!(store.take(take).await.unwrap()[0].remaining(), 14, "only this one was counted");
}
