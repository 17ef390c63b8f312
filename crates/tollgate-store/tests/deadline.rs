//! The decorator that bounds how long a store may take.

use std::{error::Error, time::Duration};

use tokio::time::Instant;
use tollgate_store::{Deadline, Forget, Settle, SettleId, Store, StoreErrorKind, Take};

use crate::support::{NOON, Stub, charge};

const DEADLINE: Duration = Duration::from_millis(1_500);

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_is_given_up_at_the_deadline() {
    let store = Deadline::new(Stub::mute(), DEADLINE).unwrap();
    let charges = [charge(&[])];
    for call in 1..=3 {
        let since = Instant::now();
        let error = match call {
            1 => store.take(Take { charges: &charges, now: NOON }).await.unwrap_err(),
            2 => {
                store.settle(Settle { id: SettleId::new(1), corrections: &[], now: NOON }).await.unwrap_err()
            }
            _ => store.forget(Forget { targets: &[], now: NOON }).await.unwrap_err(),
        };
        assert_eq!(Instant::now() - since, DEADLINE);
        assert_eq!((error.kind(), error.is_transient()), (StoreErrorKind::Timeout, true));
        assert!(error.to_string().contains("1500 ms"), "{error}");
        assert_eq!(store.inner().calls(), call, "each is asked once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_answers_is_left_alone() {
    let store = Deadline::new(Stub::default(), DEADLINE).unwrap();
    let charges = [charge(&[])];
    let take = Take { charges: &charges, now: NOON };
    let since = Instant::now();
    let decisions = store.take(take).await.unwrap();
    assert_eq!(decisions[0].remaining(), 2);
    store.settle(Settle { id: SettleId::new(1), corrections: &[], now: NOON }).await.unwrap();
    store.forget(Forget { targets: &[], now: NOON }).await.unwrap();
    assert_eq!((store.inner().calls(), since.elapsed()), (3, Duration::ZERO));

    // Its errors too are its own.
    let twice = [charges[0], charges[0]];
    let error = store.take(Take { charges: &twice, now: NOON }).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misuse);
}

#[test]
fn what_is_answered_at_once_needs_no_timer() {
    let charges = [charge(&[])];
    let take = Take { charges: &charges, now: NOON };
    let quick = Deadline::new(Stub::default(), DEADLINE).unwrap();
    assert_eq!(quick.take_now(&take).unwrap().unwrap(), Stub::default().take_now(&take).unwrap().unwrap());
    let mute = Deadline::new(Stub::mute(), DEADLINE).unwrap();
    assert!(mute.take_now(&take).is_none());
    assert_eq!(mute.inner().calls(), 0);
}

#[test]
fn a_deadline_of_nothing_is_refused() {
    let error = Deadline::new(Stub::default(), Duration::ZERO).unwrap_err();
    assert!(error.to_string().contains("at least 1 ms") && error.source().is_none());
    assert!(Deadline::new(Stub::default(), Duration::from_nanos(1)).is_ok());
}
