//! What a store on a Redis owes beyond the suite: what its keys are like, and what happens to those of others.
//!
//! Each is a test through [`owes!`](crate::owes): on the store, on its Redis, with whatever is between the two.

use tollgate_core::{Charging, Limit, Timestamp, Units, Window};
use tollgate_store::{
    Charge, Correction, Decisions, Key, Name, Part, Settle, SettleId, Store, StoreErrorKind, Take,
};

use crate::{Entry, RedisServer, Served, strangers};

/// Makes a test of each function of [`owed`](mod@crate::owed), on Tokio: `owes! { served() }`.
#[macro_export]
macro_rules! owes {
    (@one $name:ident $served:block) => {
        #[tokio::test]
        async fn $name() {
            $crate::owed::$name(&$served).await;
        }
    };
    (@all $served:block $($name:ident)*) => {
        $($crate::owes! { @one $name $served })*
    };
    ($served:expr) => {
        $crate::owes! { @all {$served}
            a_key_that_lost_its_lifetime_gets_one
            a_late_correction_creates_nothing
            a_refusal_leaves_the_others_as_they_were
            a_strange_value_is_an_error_and_leaves_nothing_half_taken
        }
    };
}

/// The middle of an hour.
const NOW: Timestamp = Timestamp::from_unix_ms(1_795_998_600_000);
const HOUR_MS: u64 = 3_600_000;

/// Of each algorithm, and how long a key of which 6 are spent may live, without a second of slack.
const LIMITS: [(Limit, u64); 3] = [
    (Limit::fixed(10, Window::HOUR), HOUR_MS),
    (Limit::sliding(10, Window::HOUR), 2 * HOUR_MS),
    (Limit::bucket(10, 5, Window::HOUR), 2 * HOUR_MS),
];

/// The parts of eight keys.
pub static EIGHT: [Part<'static>; 8] = [
    Part::Number(0),
    Part::Number(1),
    Part::Number(2),
    Part::Number(3),
    Part::Number(4),
    Part::Number(5),
    Part::Number(6),
    Part::Number(7),
];

/// A counter or a bucket that lost its lifetime has one again after the next charge, and after the next settlement.
///
/// # Panics
/// If it is not so.
pub async fn a_key_that_lost_its_lifetime_gets_one<S: Store, G>(on: &Served<S, G>) {
    for ((limit, most_ms), at) in LIMITS.into_iter().zip(0..) {
        let taken = take(on, &[charge(at, limit, 5)], NOW).await;
        for settles in [false, true] {
            let counted = counted(&on.redis, at);
            assert_eq!(counted.len(), 1, "{limit:?} has one key");
            on.redis.run(&["PERSIST", &counted[0].key]);
            assert_eq!(lives_ms(&on.redis, &counted[0].key), -1);
            if settles {
                settle(on, 1, at, limit, &taken, -1, NOW).await;
            } else {
                let _ = take(on, &[charge(at, limit, 1)], NOW).await;
            }
            let lives_ms = lives_ms(&on.redis, &counted[0].key);
            assert!((1..=most_ms + 1_000).contains(&lives_ms.cast_unsigned()), "{limit:?}: {lives_ms} ms");
        }
    }
    demand_lifetimes(&on.redis);
}

/// A settlement whose window is over, or whose key is gone, creates no count and takes none below zero; all it leaves is that it
/// was applied, and that goes. But a bucket that is gone was full, and pays what was used beyond an estimate.
///
/// # Panics
/// If it is not so.
pub async fn a_late_correction_creates_nothing<S: Store, G>(on: &Served<S, G>) {
    let mut id = 0;
    for ((limit, _), at) in LIMITS.into_iter().zip(0..) {
        for later_ms in [0, 10 * HOUR_MS] {
            for delta in [5, -5] {
                let taken = take(on, &[charge(at, limit, 5)], NOW).await;
                for counted in counted(&on.redis, at) {
                    on.redis.run(&["DEL", &counted.key]);
                }
                id += 1;
                let later = NOW.saturating_add_ms(later_ms);
                settle(on, id, at, limit, &taken, delta, later).await;
                let owes = delta > 0 && matches!(limit, Limit::TokenBucket { .. });
                let counted = counted(&on.redis, at);
                assert_eq!(counted.len(), usize::from(owes), "{limit:?}, {delta} {later_ms} ms later");
                if owes {
                    assert_eq!(take(on, &[charge(at, limit, 0)], later).await[0].left(), 5);
                    demand_lifetimes(&on.redis);
                    on.redis.run(&["DEL", &counted[0].key]);
                }
            }
        }
        // Of a key that is there more comes back than was taken.
        let taken = take(on, &[charge(at, limit, 5)], NOW).await;
        id += 1;
        settle(on, id, at, limit, &taken, -50, NOW).await;
        assert_eq!(take(on, &[charge(at, limit, 1)], NOW).await[0].left(), 9, "{limit:?}");
    }
    demand_lifetimes(&on.redis);
}

/// What one charge of several refuses leaves the others as they were, value and lifetime.
///
/// # Panics
/// If it is not so.
pub async fn a_refusal_leaves_the_others_as_they_were<S: Store, G>(on: &Served<S, G>) {
    let [fixed, sliding, bucket] = LIMITS.map(|(limit, _)| limit);
    let closed = Limit::fixed(1, Window::DAY);
    let charges = [charge(0, fixed, 1), charge(1, sliding, 1), charge(2, closed, 1), charge(3, bucket, 1)];
    assert!(take(on, &charges, NOW).await.is_admitted());
    let before = everything(&on.redis);
    assert_eq!(before.len(), 4);
    for _ in 0..3 {
        assert!(!take(on, &charges, NOW.saturating_add_ms(5_000)).await.is_admitted());
        assert_eq!(everything(&on.redis), before);
    }
}

/// A value of another kind under any key of a take of eight is an error of its own kind, and none of the eight is written, be it
/// one that is written in any case; once the stranger is gone, all eight count from where they were.
///
/// # Panics
/// If it is not so.
pub async fn a_strange_value_is_an_error_and_leaves_nothing_half_taken<S: Store, G>(on: &Served<S, G>) {
    const ASIDE: &str = "aside";
    let [fixed, sliding, bucket] = LIMITS.map(|(limit, _)| limit);
    let limits = [fixed, bucket, sliding, bucket, sliding, fixed, bucket, fixed];
    let charges: [_; 8] = std::array::from_fn(|at| Charge {
        charging: if at % 3 == 0 { Charging::Always } else { Charging::IfAllowed },
        ..charge(at, limits[at], 1)
    });
    assert!(take(on, &charges, NOW).await.is_admitted());
    let good = everything(&on.redis);
    assert_eq!(good.len(), 8);
    for (at, limit) in limits.into_iter().enumerate() {
        let key = counted(&on.redis, at)[0].key.clone();
        on.redis.run(&["RENAME", &key, ASIDE]);
        for words in strangers(&key, matches!(limit, Limit::TokenBucket { .. })) {
            on.redis.run(&words);
            let before = everything(&on.redis);
            let taken = on.store.take(Take { charges: &charges, now: NOW }).await;
            let error = taken.expect_err("somebody else's value is no count");
            assert_eq!(error.kind(), StoreErrorKind::Reject, "{limit:?} {words:?}: {error}");
            assert_eq!(everything(&on.redis), before, "{limit:?} {words:?}");
            on.redis.run(&["DEL", &key]);
        }
        on.redis.run(&["RENAME", ASIDE, &key]);
    }
    assert_eq!(everything(&on.redis), good);
    let again = take(on, &charges, NOW).await;
    assert_eq!(again.iter().map(|decision| decision.used().get()).collect::<Vec<_>>(), [2; 8]);
}

/// The key of this place.
fn key(at: usize) -> Key<'static> {
    Key::new(Name::new("owed"), &EIGHT[at..=at])
}

fn charge(at: usize, limit: Limit, cost: u64) -> Charge<'static> {
    Charge { cost: Units::new(cost), ..Charge::new(key(at), limit) }
}

async fn take<S: Store, G>(on: &Served<S, G>, charges: &[Charge<'_>], now: Timestamp) -> Decisions {
    on.store.take(Take { charges, now }).await.expect("it counts")
}

/// Corrects what was taken first.
async fn settle<S: Store, G>(
    on: &Served<S, G>,
    id: u128,
    at: usize,
    limit: Limit,
    taken: &Decisions,
    delta: i64,
    now: Timestamp,
) {
    let correction = Correction { key: key(at), limit, stamp: taken[0].stamp(), delta };
    let id = SettleId::new(id << 8 | at as u128);
    on.store.settle(Settle { id, corrections: &[correction], now }).await.expect("it settles");
}

/// All that is kept, but for the memory of takes that may be sent again.
fn everything(redis: &RedisServer) -> Vec<Entry> {
    redis.contents().into_iter().filter(|entry| !entry.key.starts_with("limit:%:take:")).collect()
}

/// What is counted under the key of this place.
fn counted(redis: &RedisServer, at: usize) -> Vec<Entry> {
    let (bucket, window) = (format!("limit:owed:{at}"), format!("limit:owed:{at}:"));
    redis
        .contents()
        .into_iter()
        .filter(|entry| entry.key == bucket || entry.key.starts_with(&window))
        .collect()
}

fn lives_ms(redis: &RedisServer, key: &str) -> i64 {
    redis::from_redis_value(redis.run(&["PTTL", key])).expect("this is a number")
}

fn demand_lifetimes(redis: &RedisServer) {
    for entry in redis.contents() {
        assert!(entry.expires_at_ms > 0, "{entry:?} stays for ever");
    }
}
