//! A store behind a pointer is that store.

use std::sync::Arc;

use tollgate_store::{Correction, Forget, Settle, SettleId, Store, StoreErrorKind, Take, Target};

use crate::support::{LIMIT, NOON, Stub, charge, key};

#[tokio::test]
async fn every_call_reaches_the_store_inside() {
    let inner = Arc::new(Stub::default());
    let store: Arc<dyn Store> = Arc::<Stub>::clone(&inner);
    let charges = [charge(&[])];
    let take = Take { charges: &charges, now: NOON };

    // A pointer to a pointer is a store too.
    let nested = Arc::new(Arc::clone(&store));
    let at_once = Store::take_now(&nested, &take).unwrap().unwrap();
    assert_eq!(Store::take(&nested, take).await.unwrap(), at_once);
    assert_eq!(inner.calls(), 1);

    let taken = &at_once[0];
    let correction = Correction { key: key(&[]), limit: LIMIT, stamp: taken.stamp(), delta: 1 };
    let twice = [correction, correction];
    let error =
        store.settle(Settle { id: SettleId::new(1), corrections: &twice, now: NOON }).await.unwrap_err();
    assert_eq!((error.kind(), inner.calls()), (StoreErrorKind::Misuse, 2));
    let target = Target { key: key(&[]), limit: LIMIT };
    store.forget(Forget { targets: &[target], now: NOON }).await.unwrap();
    assert_eq!(inner.calls(), 3);

    assert!(Arc::new(Stub::mute()).take_now(&take).is_none());
    assert_eq!(SettleId::new(u128::MAX).bits(), u128::MAX);
}
