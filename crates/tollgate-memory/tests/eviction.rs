//! Which keys go when there are more than fit, held to a plain model.

#![expect(clippy::unwrap_used, reason = "a test fails where nothing else can be done")]

mod common;
mod model;

use common::{NAME, NOON, at, number, take, take_all, used};
use model::Model;
use proptest::prelude::*;
use tollgate_core::{Charging, Limit, Stamp, Units, Window};
use tollgate_memory::MemoryStore;
use tollgate_store::{Charge, Correction, Forget, Key, Name, Settle, SettleId, Take, Target};

/// Mixed lengths and kinds: what is used least recently is often not what falls idle first.
const LIMITS: [Limit; 6] = [
    Limit::fixed(2, Window::SECOND),
    Limit::fixed(1, Window::MINUTE),
    Limit::fixed(9, Window::HOUR),
    Limit::sliding(2, Window::from_ms(7_000)),
    Limit::bucket(3, 1, Window::from_ms(1_300)),
    Limit::bucket(1, 1, Window::from_ms(30)),
];

#[derive(Clone, Debug)]
enum Op {
    Take { charges: Vec<Asked>, step: i64 },
    Settle { key: u64, delta: i64 },
    Forget { key: u64 },
}

#[derive(Clone, Debug)]
struct Asked {
    key: u64,
    /// Mostly the first limit of the key: now and then one of another width or kind.
    which: usize,
    cost: u64,
    charging: Charging,
    enforce: bool,
}

fn op(keys: u64) -> impl Strategy<Value = Op> {
    let charging = prop_oneof![
        8 => Just(Charging::IfAllowed),
        1 => Just(Charging::Always),
        1 => Just(Charging::Never),
    ];
    let which = prop_oneof![20 => Just(0usize), 1 => 1..5usize];
    let asked = (0..keys, which, 0..4u64, charging, prop::bool::weighted(0.9))
        .prop_map(|(key, which, cost, charging, enforce)| Asked { key, which, cost, charging, enforce });
    // Slowly enough that most keys still count when they have to go.
    let step = prop_oneof![
        40 => 0..3i64,
        8 => 0..100i64,
        2 => 0..3_000i64,
        1 => 0..40_000i64,
        6 => -900..0i64,
    ];
    prop_oneof![
        20 => (prop::collection::vec(asked, 1..4), step).prop_map(|(charges, step)| Op::Take { charges, step }),
        2 => (0..keys, -3..4i64).prop_map(|(key, delta)| Op::Settle { key, delta }),
        1 => (0..keys).prop_map(|key| Op::Forget { key }),
    ]
}

fn history() -> impl Strategy<Value = (usize, Vec<Op>)> {
    (16usize..48).prop_flat_map(|capacity| {
        (Just(capacity), prop::collection::vec(op(capacity as u64 * 5 / 2), 100..400))
    })
}

/// The limits a key is charged under, its own first: of two buckets only one, since a state of one says something under the
/// other when it is idle under its own.
fn limits_of(key: u64) -> [Limit; 5] {
    let own = usize::try_from(key).unwrap() % LIMITS.len();
    let mut limits = [LIMITS[0], LIMITS[1], LIMITS[2], LIMITS[3], LIMITS[own.max(4)]];
    limits.swap(0, own.min(4));
    limits
}

/// Every key that counts is held by both, and by neither another.
fn assert_same_keys(store: &MemoryStore, model: &Model, keys: u64) {
    for key in 0..keys {
        for limit in limits_of(key) {
            let (parts, now) = (number(key), model.newest.unix_ms());
            let peek = Charge { cost: Units::ZERO, ..Charge::new(Key::new(NAME, &parts), limit) };
            let decisions = take_all(store, &[peek], now).unwrap();
            assert_eq!(decisions, model.peek(key, &peek), "key {key} under {limit:?}");
        }
    }
    assert!(store.len() <= store.capacity());
    let stats = store.stats();
    assert_eq!((stats.evicted_live, stats.evicted_refusing), (model.evicted_live, model.evicted_refusing));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_keys_that_stay_are_the_models((capacity, ops) in history()) {
        let keys = capacity as u64 * 5 / 2;
        let store = MemoryStore::with_capacity(capacity).unwrap();
        let mut model = Model::new(capacity, at(NOON));
        for (number_of_op, op) in ops.into_iter().enumerate() {
            run(&store, &mut model, op, number_of_op as u128);
            if number_of_op % 16 == 0 {
                assert_same_keys(&store, &model, keys);
            }
        }
        assert_same_keys(&store, &model, keys);
    }
}

fn run(store: &MemoryStore, model: &mut Model, op: Op, id: u128) {
    match op {
        Op::Take { charges, step } => {
            let keys: Vec<u64> = charges.iter().map(|asked| asked.key).collect();
            let parts: Vec<_> = charges.iter().map(|asked| number(asked.key)).collect();
            let charges: Vec<_> = charges
                .iter()
                .zip(&parts)
                .map(|(asked, parts)| Charge {
                    cost: Units::new(asked.cost),
                    charging: asked.charging,
                    enforce: asked.enforce,
                    ..Charge::new(Key::new(NAME, parts), limits_of(asked.key)[asked.which])
                })
                .collect();
            let mut now = at(model.newest.unix_ms().saturating_add_signed(step));
            // Idle keys go in no particular order, so what a late clock still sees of them is not determined, nor is how many
            // keys have to go before this take has marked the others.
            let idle: Vec<u64> = keys.iter().copied().filter(|key| model.may_be_idle(*key)).collect();
            if !idle.is_empty() {
                now = now.max(model.newest);
            }
            if keys.len() > 1 {
                idle.iter().for_each(|key| forget(store, model, *key));
            }
            let take = Take { charges: &charges, now };
            let expected = model.take(&keys, &take);
            match (store.take(&take), expected) {
                (Ok(decisions), Ok(expected)) => assert_eq!(decisions, expected),
                (Err(error), Err(expected)) => assert_eq!(error.kind(), expected.kind()),
                (one, other) => panic!("{one:?} and {other:?}"),
            }
        }
        Op::Settle { key, delta } => {
            // Nor is what becomes of a key that said nothing.
            if model.may_be_idle(key) {
                return;
            }
            let parts = number(key);
            let limit = limits_of(key)[0];
            // A key that is not there is settled too: a bucket may owe something.
            let end = model.window_end(key).unwrap_or(model.newest);
            let corrections =
                [Correction { key: Key::new(NAME, &parts), limit, stamp: Stamp::ending_at(end), delta }];
            let settle = Settle { id: SettleId::new(id), corrections: &corrections, now: model.newest };
            store.settle(&settle).unwrap();
            model.settle(key, &settle);
        }
        Op::Forget { key } => forget(store, model, key),
    }
}

fn forget(store: &MemoryStore, model: &mut Model, key: u64) {
    let parts = number(key);
    let targets = [Target { key: Key::new(NAME, &parts), limit: limits_of(key)[0] }];
    store.forget(&Forget { targets: &targets, now: model.newest }).unwrap();
    model.forget(key);
}

/// A stream of numbers that is the same every time.
fn scatter(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(seed), |last| {
        Some(last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    })
    .map(|number| number >> 33)
}

#[test]
fn the_order_is_exact_at_the_default_capacity() {
    const KEYS: u64 = 14_000;
    let store = MemoryStore::new();
    let mut model = Model::new(store.capacity(), at(NOON));
    for (at_op, number) in scatter(7).take(30_000).enumerate() {
        let asked =
            Asked { key: number % KEYS, which: 0, cost: 1, charging: Charging::IfAllowed, enforce: true };
        // Slowly enough that most keys still count when they go.
        let step = i64::from(at_op % 64 == 0);
        run(&store, &mut model, Op::Take { charges: vec![asked], step }, 0);
    }
    assert!(model.evicted_live > 500, "{}", model.evicted_live);
    assert_eq!(store.len(), 10_000);
    assert_same_keys(&store, &model, KEYS);
}

const DAY: Limit = Limit::fixed(3, Window::DAY);

#[test]
fn idle_keys_go_first_and_then_the_least_recently_used() {
    let store = MemoryStore::with_capacity(16).unwrap();
    let short = Limit::fixed(3, Window::SECOND);
    for visitor in 0..12 {
        let _ = take(&store, visitor, DAY, NOON);
    }
    for visitor in 12..16 {
        let _ = take(&store, visitor, short, NOON);
    }
    let _ = take(&store, 0, DAY, NOON + 1);
    // A second later the four that were used last are idle: they go before any other.
    for visitor in 100..104 {
        let _ = take(&store, visitor, DAY, NOON + 1_000);
    }
    let left =
        |from: u64, to: u64| (from..to).filter(|visitor| used(&store, *visitor, DAY, NOON + 1_000) > 0);
    assert_eq!((left(0, 12).count(), left(100, 104).count(), store.stats().evicted_live), (12, 4, 0));
    // From then on the least recently used.
    for visitor in 200..203 {
        let _ = take(&store, visitor, DAY, NOON + 1_000);
    }
    assert_eq!(left(0, 12).collect::<Vec<_>>(), [0, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!((store.len(), store.stats().evicted_live), (16, 3));
}

#[test]
fn a_blocked_visitor_stays_blocked_through_a_million_fresh_ones() {
    // A larger store, which evicts by samples, is full many times over with fewer.
    for (capacity, fresh) in
        [(MemoryStore::DEFAULT_CAPACITY, 1_000_000), (MemoryStore::EXACT_UP_TO + 1, 200_000)]
    {
        let store = MemoryStore::with_capacity(capacity).unwrap();
        let blocked = 5_000_000;
        for _ in 0..4 {
            let _ = take(&store, blocked, DAY, NOON);
        }
        for visitor in 0..fresh {
            assert!(take(&store, visitor, DAY, NOON + visitor / 1_000).is_admitted());
        }
        assert_eq!(store.len(), capacity);
        assert_eq!(store.stats().evicted_live, fresh + 1 - capacity as u64);
        assert_eq!(store.stats().evicted_refusing, 0);
        assert!(!take(&store, blocked, DAY, NOON + 1_000).is_admitted());
    }
}

#[test]
fn a_blocked_visitor_stays_blocked_whatever_else_its_requests_are_charged_to() {
    let store = MemoryStore::with_capacity(1_000).unwrap();
    let names = ["burst", "day", "site", "all"].map(Name::new);
    let limits = [20, 3, 1_000_000, 1_000_000].map(|quota| Limit::fixed(quota, Window::DAY));
    let ask = |visitor: u64| {
        let parts = [&number(visitor)[..], &number(visitor)[..], &number(0)[..], &[]];
        let charges: Vec<_> =
            (0..4).map(|at| Charge::new(Key::new(names[at], parts[at]), limits[at])).collect();
        take_all(&store, &charges, NOON).unwrap()
    };
    for turn in 0..4 {
        assert_eq!(ask(5_000_000).is_admitted(), turn < 3);
    }
    for visitor in 0..20_000 {
        assert!(ask(visitor).is_admitted());
    }
    let refused = ask(5_000_000);
    assert!(!refused.is_admitted());
    // What it has spent elsewhere may be forgotten; what all share is not.
    assert_eq!([1, 2, 3].map(|at| refused[at].used().get()), [3, 20_003, 20_003]);
    assert_eq!((store.len(), store.stats().evicted_refusing), (1_000, 0));
}

#[test]
fn fresh_visitors_cannot_push_out_what_all_share() {
    let budget = Limit::fixed(5_000, Window::DAY);
    let key = Key::new(Name::new("budget"), &[]);
    for capacity in [16, 1_000] {
        let store = MemoryStore::with_capacity(capacity).unwrap();
        let spend = |cost| Charge { cost: Units::new(cost), ..Charge::new(key, budget) };
        assert!(take_all(&store, &[spend(4_000)], NOON).unwrap().is_admitted());
        for visitor in 0..20_000 {
            let _ = take(&store, visitor, DAY, NOON);
        }
        assert_eq!(take_all(&store, &[spend(0)], NOON).unwrap()[0].used().get(), 4_000);
        let stamp = stamp_of(&store, &spend(0));
        let corrections = [Correction { key, limit: budget, stamp, delta: -1 }];
        store.settle(&Settle { id: SettleId::new(1), corrections: &corrections, now: at(NOON) }).unwrap();
        for visitor in 0..20_000 {
            let _ = take(&store, visitor, DAY, NOON);
        }
        assert_eq!(take_all(&store, &[spend(0)], NOON).unwrap()[0].used().get(), 3_999);
        // When its window is over it goes like any other.
        let next = NOON + 86_400_000;
        for visitor in 0..capacity as u64 {
            let _ = take(&store, visitor, DAY, next);
        }
        assert_eq!((store.len(), store.stats().evicted_refusing), (capacity, 0));
    }
}

#[test]
fn refused_visitors_cannot_fill_the_store() {
    let store = MemoryStore::new();
    let once = Limit::fixed(1, Window::DAY);
    for visitor in 0..10_000 {
        let _ = take(&store, visitor, once, NOON);
        assert!(!take(&store, visitor, once, NOON).is_admitted());
    }
    // Every new visitor is counted, though all keys were refusing.
    for visitor in 20_000..26_000 {
        for left in (0..3).rev() {
            assert_eq!(take(&store, visitor, DAY, NOON)[0].remaining(), left);
        }
    }
    let stats = store.stats();
    assert_eq!((stats.keys, stats.evicted_refusing, stats.evicted_live), (10_000, 5_000, 6_000));
    // The younger half of the refused ones is kept.
    assert!((5_000..10_000).all(|visitor| used(&store, visitor, once, NOON) == 1));
}

#[test]
fn what_says_nothing_about_a_refusal_does_not_end_its_protection() {
    let store = MemoryStore::with_capacity(16).unwrap();
    for _ in 0..4 {
        let _ = take(&store, 1, DAY, NOON);
    }
    let parts = number(1);
    let charge = Charge::new(Key::new(NAME, &parts), DAY);
    for charge in [
        Charge { cost: Units::ZERO, ..charge },
        Charge { charging: Charging::Never, ..charge },
        Charge { cost: Units::new(4), ..charge },
        Charge { enforce: false, ..charge },
    ] {
        let _ = take_all(&store, &[charge], NOON).unwrap();
        for visitor in 100..200 {
            let _ = take(&store, visitor, DAY, NOON);
        }
        assert_eq!(used(&store, 1, DAY, NOON), 3, "{charge:?}");
    }
    // A refund does.
    let corrections =
        [Correction { key: charge.key, limit: DAY, stamp: stamp_of(&store, &charge), delta: -1 }];
    store.settle(&Settle { id: SettleId::new(1), corrections: &corrections, now: at(NOON) }).unwrap();
    assert_eq!(used(&store, 1, DAY, NOON), 2);
    for visitor in 100..200 {
        let _ = take(&store, visitor, DAY, NOON);
    }
    assert_eq!(used(&store, 1, DAY, NOON), 0);
}

fn stamp_of(store: &MemoryStore, charge: &Charge<'_>) -> Stamp {
    take_all(store, &[Charge { cost: Units::ZERO, ..*charge }], NOON).unwrap()[0].stamp()
}

#[test]
fn the_keys_of_one_take_never_push_each_other_out() {
    let store = MemoryStore::with_capacity(16).unwrap();
    for visitor in 0..16 {
        for _ in 0..4 {
            let _ = take(&store, visitor, DAY, NOON);
        }
    }
    // Half of the keys of the take are there and the oldest of all, half are not.
    for round in 0..50 {
        let parts: Vec<_> =
            (0..8).map(|at| number(if at < 4 { round + at } else { 1_000 + round * 8 + at })).collect();
        let charges: Vec<_> = parts
            .iter()
            .map(|parts| Charge {
                charging: Charging::Always,
                enforce: false,
                ..Charge::new(Key::new(NAME, parts), Limit::fixed(1_000, Window::DAY))
            })
            .collect();
        let decisions = take_all(&store, &charges, NOON).unwrap();
        assert!(decisions.is_admitted());
        for (charge, decision) in charges.iter().zip(&decisions) {
            let peek = Charge { cost: Units::ZERO, ..*charge };
            assert_eq!(take_all(&store, &[peek], NOON).unwrap()[0].used(), decision.used());
        }
        assert_eq!(store.len(), 16);
    }
}
