//! What a take, a settlement and a forgetting do to the keys they name.

#![expect(clippy::unwrap_used, reason = "a test fails where nothing else can be done")]

mod common;

use std::{sync::Barrier, thread};

use common::{NAME, NOON, at, number, take, take_all, used};
use futures_util::FutureExt;
use tollgate_core::{Charging, Limit, Stamp, Timestamp, Units, Window};
use tollgate_memory::{CapacityError, MemoryStore};
use tollgate_store::{
    Charge, Correction, Forget, Key, KeyParts, MOST_CHARGES, Name, Settle, SettleId, Store, StoreErrorKind,
    Subject, Take, Target,
};

const LIMIT: Limit = Limit::fixed(5, Window::MINUTE);
/// The window that noon begins.
const STAMP: Stamp = Stamp::ending_at(Timestamp::from_unix_ms(NOON + 60_000));

#[test]
fn all_or_nothing() {
    let store = MemoryStore::new();
    let (one, two, three) = (number(1), number(2), number(3));
    let charges = [&one, &two, &three].map(|parts| Charge::new(Key::new(NAME, parts), LIMIT));
    for _ in 0..5 {
        let _ = take(&store, 3, LIMIT, NOON);
    }
    let _ = take(&store, 1, LIMIT, NOON);

    let refused = take_all(&store, &charges, NOON).unwrap();
    assert!(!refused.is_admitted());
    assert_eq!(refused.iter().map(|decision| decision.used().get()).collect::<Vec<_>>(), [1, 0, 5]);
    assert_eq!(store.len(), 2, "the key that was not there has not come into being");

    let admitted = take_all(&store, &charges, NOON + 60_000).unwrap();
    assert!(admitted.is_admitted());
    assert_eq!([1, 2, 3].map(|visitor| used(&store, visitor, LIMIT, NOON + 60_000)), [1, 1, 1]);
}

#[test]
fn what_charges_nothing_makes_no_key() {
    let store = MemoryStore::new();
    let parts = number(1);
    let charge = Charge::new(Key::new(NAME, &parts), LIMIT);
    for charge in [
        Charge { cost: Units::new(6), ..charge },
        Charge { cost: Units::ZERO, ..charge },
        Charge { charging: Charging::Never, ..charge },
        Charge { limit: Limit::fixed(0, Window::MINUTE), ..charge },
        Charge { cost: Units::new(6), enforce: false, ..charge },
    ] {
        assert!(take_all(&store, &[charge], NOON).is_ok());
        assert!(store.is_empty(), "{charge:?}");
    }
    assert!(take_all(&store, &[], NOON).unwrap().is_admitted());
    let always = Charge { cost: Units::new(6), charging: Charging::Always, ..charge };
    assert!(!take_all(&store, &[always], NOON).unwrap().is_admitted());
    assert_eq!((store.len(), used(&store, 1, LIMIT, NOON)), (1, 6));
}

#[test]
fn misuse_and_a_clock_behind_write_nothing() {
    let store = MemoryStore::new();
    let _ = take(&store, 1, LIMIT, NOON);
    let (known, fresh) = (number(1), number(2));
    let (known, fresh) =
        (Charge::new(Key::new(NAME, &known), LIMIT), Charge::new(Key::new(NAME, &fresh), LIMIT));
    let always = |charge| Charge { charging: Charging::Always, ..charge };
    let parts: Vec<_> = (0..=MOST_CHARGES as u64).map(number).collect();
    let many: Vec<_> = parts.iter().map(|parts| always(Charge::new(Key::new(NAME, parts), LIMIT))).collect();

    let misuse = StoreErrorKind::Misuse;
    for (charges, now, kind) in [
        (&[always(fresh), always(fresh)][..], NOON, misuse),
        (&[always(fresh), always(known), always(known)], NOON, misuse),
        (&many, NOON, misuse),
        (&[always(known)], NOON - 60_001, StoreErrorKind::ClockBehind),
        (&[always(fresh), always(known)], NOON - 60_001, StoreErrorKind::ClockBehind),
    ] {
        assert_eq!(take_all(&store, charges, now).unwrap_err().kind(), kind);
        assert_eq!((store.len(), used(&store, 1, LIMIT, NOON)), (1, 1));
    }

    let correction = Correction { key: known.key, limit: LIMIT, stamp: STAMP, delta: 1 };
    let settle = Settle { id: SettleId::new(1), corrections: &[correction, correction], now: at(NOON) };
    assert_eq!(store.settle(&settle).unwrap_err().kind(), misuse);
    let target = Target { key: known.key, limit: LIMIT };
    let forget = Forget { targets: &[target, target], now: at(NOON) };
    assert_eq!(store.forget(&forget).unwrap_err().kind(), misuse);
    assert_eq!(used(&store, 1, LIMIT, NOON), 1);
}

#[test]
fn threads_admit_the_quota_and_not_one_more() {
    const THREADS: usize = 8;
    let limit = Limit::fixed(100, Window::DAY);
    for keys in [1, 2] {
        let store = MemoryStore::new();
        let start = Barrier::new(THREADS);
        let admitted = |reversed: bool| {
            let (one, two) = (number(1), number(2));
            let mut charges = [&one, &two].map(|parts| Charge::new(Key::new(NAME, parts), limit));
            let charges = &mut charges[..keys];
            if reversed {
                charges.reverse();
            }
            start.wait();
            (0..125).filter(|_| take_all(&store, charges, NOON).unwrap().is_admitted()).count()
        };
        let total: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    scope.spawn({
                        let admitted = &admitted;
                        move || admitted(thread % 2 == 0)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(total, 100);
        for visitor in (1..).take(keys) {
            assert_eq!(used(&store, visitor, limit, NOON), 100);
        }
    }
}

#[test]
fn parts_of_any_kind_are_keys_of_their_own_and_are_forgotten_alone() {
    let store = MemoryStore::new();
    let long = "x".repeat(10_000);
    let longer = format!("{long}x");
    let texts =
        ["", ":", "%", "*", "[", "]", "?", " ", "\n", "\0", "🦀", "a:b", "a%3Ab", "%#", &long, &longer];
    let pairs: Vec<_> = texts.iter().flat_map(|one| texts.map(|other| (*one, other).into_parts())).collect();
    let keys: Vec<_> = pairs
        .iter()
        .map(|parts| Key::new(NAME, parts))
        .chain(pairs.iter().map(|parts| Key::new(NAME, &parts[..1])).step_by(texts.len()))
        .collect();
    for key in &keys {
        assert!(take_all(&store, &[Charge::new(*key, LIMIT)], NOON).unwrap().is_admitted());
    }
    assert_eq!(store.len(), keys.len());
    for (at_key, key) in keys.iter().enumerate() {
        let targets = [Target { key: *key, limit: LIMIT }];
        store.forget(&Forget { targets: &targets, now: at(NOON) }).unwrap();
        assert_eq!(store.len(), keys.len() - at_key - 1);
    }
    assert!(store.is_empty());
}

#[test]
fn a_user_and_a_visitor_of_one_text_are_two() {
    let store = MemoryStore::new();
    let subjects = [Subject::User("203.0.113.7"), Subject::Visitor("203.0.113.7")].map(KeyParts::into_parts);
    for parts in &subjects {
        let charge = Charge::new(Key::new(Name::new("chat"), parts), Limit::fixed(1, Window::MINUTE));
        assert!(take_all(&store, &[charge], NOON).unwrap().is_admitted());
    }
}

fn settle(store: &MemoryStore, id: u128, visitor: u64, delta: i64, now: u64) {
    let parts = number(visitor);
    let key = Key::new(NAME, &parts);
    let corrections = [Correction { key, limit: LIMIT, stamp: STAMP, delta }];
    store.settle(&Settle { id: SettleId::new(id), corrections: &corrections, now: at(now) }).unwrap();
}

#[test]
fn a_settlement_corrects_once_and_creates_nothing() {
    let store = MemoryStore::new();
    let _ = take(&store, 1, LIMIT, NOON);
    for (id, delta, expected) in [(1, 3, 4), (1, 3, 4), (2, 3, 7), (3, -100, 0), (1, 3, 0)] {
        settle(&store, id, 1, delta, NOON + 1);
        assert_eq!(used(&store, 1, LIMIT, NOON + 1), expected, "{id}");
    }
    settle(&store, 4, 2, 3, NOON);
    settle(&store, 5, 2, -3, NOON);
    assert_eq!((used(&store, 2, LIMIT, NOON), store.len()), (0, 1));

    let _ = take(&store, 1, LIMIT, NOON + 60_000);
    settle(&store, 6, 1, 3, NOON + 60_000);
    assert_eq!(used(&store, 1, LIMIT, NOON + 60_000), 1, "a window that has ended is left alone");
}

/// What a settlement charges to buckets that are full is kept, those that are there and those that are not: none of them is put
/// out by another of the same settlement, however full the store is.
#[test]
fn a_settlement_charges_what_a_full_bucket_owes() {
    let capacity = MemoryStore::LEAST_CAPACITY;
    let store = MemoryStore::with_capacity(capacity).unwrap();
    let limit = Limit::bucket(1_000, 100, Window::SECOND);
    let kept = [1, 3, 5, 7];
    for visitor in kept {
        let _ = take(&store, visitor, limit, NOON);
    }
    for visitor in 0..(capacity - kept.len()) as u64 {
        let _ = take(&store, 1_000 + visitor, Limit::fixed(1, Window::DAY), NOON);
    }
    let later = NOON + 2_000;
    let parts: Vec<_> = (0..8).map(number).collect();
    let corrections: Vec<_> = parts
        .iter()
        .map(|parts| Correction { key: Key::new(NAME, parts), limit, stamp: STAMP, delta: 800 })
        .collect();
    let settle = Settle { id: SettleId::new(1), corrections: &corrections, now: at(later) };
    for _ in 0..2 {
        store.settle(&settle).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|visitor| used(&store, visitor, limit, later)), [800; 8]);
    }
    assert_eq!(store.len(), capacity);
}

#[test]
fn the_trait_does_what_the_store_does() {
    let store: std::sync::Arc<dyn Store> = std::sync::Arc::new(MemoryStore::new());
    let parts = number(1);
    let charges = [Charge::new(Key::new(NAME, &parts), Limit::fixed(3, Window::MINUTE))];
    let take = Take { charges: &charges, now: at(NOON) };
    let first = store.take_now(&take).unwrap().unwrap();
    assert_eq!(first[0].remaining(), 2);
    assert_eq!(store.take(take).now_or_never().unwrap().unwrap()[0].remaining(), 1);
    let [Charge { key, limit, .. }] = charges;
    let corrections = [Correction { key, limit, stamp: first[0].stamp(), delta: -1 }];
    let settle = Settle { id: SettleId::new(1), corrections: &corrections, now: at(NOON) };
    store.settle(settle).now_or_never().unwrap().unwrap();
    assert_eq!(store.take_now(&take).unwrap().unwrap()[0].remaining(), 1);
    store
        .forget(Forget { targets: &[Target { key, limit }], now: at(NOON) })
        .now_or_never()
        .unwrap()
        .unwrap();
    assert_eq!(store.take_now(&take).unwrap().unwrap()[0].remaining(), 2);
}

#[test]
fn a_capacity_out_of_bounds_is_an_error_that_says_what_to_do() {
    let least = MemoryStore::LEAST_CAPACITY;
    assert_eq!(least, 2 * MOST_CHARGES);
    assert_eq!(MemoryStore::with_capacity(least).unwrap().capacity(), least);
    assert_eq!(MemoryStore::new().capacity(), 10_000);
    for (capacity, expected, hint) in [
        (0, CapacityError::TooSmall { capacity: 0 }, "at least 16"),
        (least - 1, CapacityError::TooSmall { capacity: least - 1 }, "at least 16"),
        (usize::MAX, CapacityError::TooLarge { capacity: usize::MAX }, "at most 268435456"),
    ] {
        let error = MemoryStore::with_capacity(capacity).unwrap_err();
        assert_eq!(error, expected);
        assert!(error.to_string().contains(hint));
    }
}
