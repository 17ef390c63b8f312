//! How long keys live, what settling and forgetting leave, and calls that arrive twice.

use std::time::Duration;

use tollgate_core::{Charging, Decision, Limit, Timestamp, Units, Window};
use tollgate_script::Replay;
use tollgate_store::{
    Charge, Correction, Decisions, Forget, Key, Name, Part, Settle, SettleId, Take, Target,
};

use crate::support::Bench;

/// The start of a day.
const START: Timestamp = Timestamp::from_unix_ms(1_795_996_800_000);

const LIMITS: [(Limit, &str); 3] = [
    (Limit::fixed(10, Window::HOUR), "limit:ask:498888"),
    (Limit::sliding(10, Window::HOUR), "limit:ask:498888"),
    (Limit::bucket(10, 2, Window::HOUR), "limit:ask"),
];

const KEY: Key<'static> = Key::new(Name::new("ask"), &[]);

fn spend(bench: &Bench, limit: Limit, cost: u64, now: Timestamp) {
    assert_eq!(taken(bench, limit, cost, now).quota(), limit.quota());
}

fn taken(bench: &Bench, limit: Limit, cost: u64, now: Timestamp) -> Decision {
    let charge = Charge { cost: Units::new(cost), ..Charge::new(KEY, limit) };
    bench.take(&Take { charges: &[charge], now }).expect("it counts")[0]
}

fn settle(bench: &Bench, id: u128, limit: Limit, decision: &Decision, delta: i64, now: Timestamp) {
    let correction = Correction { key: KEY, limit, stamp: decision.stamp(), delta };
    bench.settle(&Settle { id: SettleId::new(id), corrections: &[correction], now }).expect("it settles");
}

#[test]
fn a_key_lives_until_it_says_nothing_any_more() {
    let bench = Bench::start();
    let now = START.saturating_add_ms(600_000);
    // Until the window ends; until the next one does; until three refills after the first draw.
    for ((limit, key), until) in LIMITS.into_iter().zip([3_000_000, 6_600_000, 3 * 3_600_000]) {
        bench.run(&["FLUSHALL"]);
        let taken = taken(&bench, limit, 5, now);
        let lives = bench.lives(key);
        assert!((until..=until + 1_000).contains(&lives), "{limit:?}: {lives}");

        // One that lost its lifetime gets it back with the next charge, or the next settlement.
        assert_eq!(bench.number(&["PERSIST", key]), 1);
        spend(&bench, limit, 1, now);
        assert!((until..=until + 1_000).contains(&bench.lives(key)), "{limit:?}");
        assert_eq!(bench.number(&["PERSIST", key]), 1);
        settle(&bench, 1, limit, &taken, -1, now);
        assert!((until..=until + 1_000).contains(&bench.lives(key)), "{limit:?}");

        // So does one that lives too short, and one that is emptied or filled up again still goes.
        bench.run(&["PEXPIRE", key, "5000"]);
        spend(&bench, limit, 1, now);
        assert!(bench.lives(key) >= until, "{limit:?}");
        settle(&bench, 2, limit, &taken, -100, now);
        assert!((0..=until + 1_000).contains(&bench.lives(key)), "{limit:?}");
    }
}

#[test]
fn a_clock_that_is_behind_keeps_no_key_longer() {
    let bench = Bench::start();
    for ((limit, key), most) in LIMITS.into_iter().zip([3_600_000, 7_200_000, 3_600_000]) {
        bench.run(&["FLUSHALL"]);
        spend(&bench, limit, 1, START);
        bench.run(&["PERSIST", key]);
        spend(&bench, limit, 1, Timestamp::from_unix_ms(START.unix_ms() - 1_800_000));
        let lives = bench.lives(key);
        assert!((most..=most + 1_000).contains(&lives), "{limit:?}: {lives}");
    }
}

#[test]
fn a_settlement_creates_nothing_but_the_memory_of_its_id() {
    let bench = Bench::start();
    for (limit, key) in LIMITS {
        bench.run(&["FLUSHALL"]);
        let taken = taken(&bench, limit, 5, START);
        let last_id = format!("limit:%:settle:{:032x}", 3);
        for (id, delta) in [(1, -5), (2, 5), (3, -1)] {
            bench.run(&["DEL", key]);
            settle(&bench, id, limit, &taken, delta, START.saturating_add_ms(1));
            // A bucket that is gone was full, and pays what was used beyond an estimate: until three refills later it is known.
            let owes = delta > 0 && matches!(limit, Limit::TokenBucket { .. });
            assert_eq!(bench.number(&["EXISTS", key]), i64::from(owes), "{limit:?}");
            if owes {
                let lives = bench.lives(key);
                assert!((3 * 3_600_000..=3 * 3_600_000 + 1_000).contains(&lives), "{lives}");
            }
        }
        // The ids are remembered until what they corrected cannot count: at most two windows, or until a bucket is full.
        let kept = bench.everything();
        assert_eq!(kept.len(), 3, "{kept:?}");
        assert!(kept.iter().all(|(_, _, expires)| *expires));
        let lives = bench.lives(&last_id);
        let most = i64::try_from(
            limit
                .idle_at(&tollgate_core::State::Bucket { refilled_at: START, tokens: 0 })
                .since(START)
                .as_millis(),
        )
        .expect("small")
        .max(7_200_000);
        assert!(lives > 3_500_000 && lives <= most + 1_000, "{limit:?}: {lives}");

        // Long after, when nothing of it counts.
        bench.run(&["FLUSHALL"]);
        let late = START.saturating_add_ms(100 * 3_600_000);
        settle(&bench, 4, limit, &taken, -5, late);
        assert_eq!(bench.everything().len(), 1, "{limit:?}");
        spend(&bench, limit, 3, late);
        let before = bench.everything();
        settle(&bench, 5, limit, &taken, 5, late);
        settle(&bench, 6, limit, &taken, -5, late);
        let after: Vec<_> =
            bench.everything().into_iter().filter(|(key, ..)| !key.contains("settle")).collect();
        let before: Vec<_> = before.into_iter().filter(|(key, ..)| !key.contains("settle")).collect();
        if !matches!(limit, Limit::TokenBucket { .. }) {
            assert_eq!(after, before, "{limit:?}");
        }
    }
}

#[test]
fn a_charge_to_a_bucket_is_known_longer_than_the_bucket_takes_to_fill() {
    let bench = Bench::start();
    let limit = Limit::bucket(10, 10, Window::SECOND);
    let taken = taken(&bench, limit, 5, START);
    for (id, delta, least, most) in [(1, -1, 1_000, 2_000), (2, 1, 3_600_000, 3_601_000)] {
        settle(&bench, id, limit, &taken, delta, START);
        let lives = bench.lives(&format!("limit:%:settle:{id:032x}"));
        assert!((least..=most).contains(&lives), "{delta}: {lives}");
    }
}

#[test]
fn what_one_charge_refuses_leaves_the_others_as_they_were() {
    let bench = Bench::start();
    let parts = ["a", "b", "c", "d"].map(|part| [Part::Text(part)]);
    let charge = |at: usize, limit| Charge::new(Key::new(Name::new("ask"), &parts[at]), limit);
    let charges = [
        charge(0, LIMITS[0].0),
        charge(1, LIMITS[1].0),
        charge(2, LIMITS[2].0),
        charge(3, Limit::fixed(1, Window::DAY)),
    ];
    let take = Take { charges: &charges, now: START };
    assert!(bench.take(&take).expect("it counts").is_admitted());
    let lives = |bench: &Bench| -> Vec<_> {
        bench.everything().iter().map(|(key, ..)| bench.number(&["PEXPIRETIME", key])).collect()
    };
    let before = (bench.everything(), lives(&bench));
    assert_eq!(before.0.len(), 4);
    for replay in [1, 2] {
        let later = Take { now: START.saturating_add_ms(5_000), ..take };
        let refused =
            bench.take_again(&later, Replay::new(replay, Duration::from_secs(5))).expect("it counts");
        assert!(!refused.is_admitted());
        assert_eq!((bench.everything(), lives(&bench)), before);
    }
}

#[test]
fn a_take_that_arrives_twice_is_counted_once() {
    let bench = Bench::start();
    let parts = ["a", "b", "c"].map(|part| [Part::Text(part)]);
    let charges: Vec<_> = LIMITS
        .iter()
        .zip(&parts)
        .map(|((limit, _), parts)| Charge::new(Key::new(Name::new("ask"), parts), *limit))
        .collect();
    let left = |decisions: &Decisions| decisions.iter().map(Decision::left).collect::<Vec<_>>();
    let take = Take { charges: &charges, now: START };
    let (one, other) = (Replay::new(1, Duration::from_secs(5)), Replay::new(2, Duration::from_secs(5)));
    let first = bench.take_again(&take, one).expect("it counts");
    assert_eq!(left(&first), [9, 9, 9]);
    for _ in 0..3 {
        assert_eq!(bench.take_again(&take, one).expect("it counts"), first, "the same answer");
    }
    // Others meanwhile, and one more time.
    assert_eq!(left(&bench.take_again(&take, other).expect("it counts")), [8, 8, 8]);
    assert_eq!(bench.take_again(&take, one).expect("it counts"), first);
    assert_eq!(left(&bench.take(&take).expect("it counts")), [7, 7, 7]);

    let remembered: Vec<_> =
        bench.server.keys().into_iter().filter(|key| key.starts_with("limit:%:take:")).collect();
    assert_eq!(remembered.len(), 2);
    for key in remembered {
        assert!((1..=5_000).contains(&bench.lives(&key)));
    }
}

#[test]
fn a_refused_take_is_not_remembered_and_one_always_charged_is() {
    let bench = Bench::start();
    let closed = Charge::new(KEY, Limit::fixed(0, Window::DAY));
    let replay = Replay::new(1, Duration::from_secs(5));
    let refused = bench.take_again(&Take { charges: &[closed], now: START }, replay).expect("it counts");
    assert!(!refused.is_admitted());
    assert!(bench.everything().is_empty());

    let always = Charge { charging: Charging::Always, ..closed };
    for _ in 0..3 {
        let refused = bench.take_again(&Take { charges: &[always], now: START }, replay).expect("it counts");
        assert_eq!(refused[0].left(), -1, "counted once");
    }
}

#[test]
fn forgetting_takes_all_windows_and_nothing_else() {
    let bench = Bench::start();
    bench.run(&["SET", "limit:ask:498888:x", "1"]);
    bench.run(&["SET", "limit:asks", "1"]);
    for (limit, _) in LIMITS {
        spend(&bench, limit, 1, START);
        spend(&bench, limit, 1, START.saturating_add_ms(3_600_000));
        bench.forget(&Forget { targets: &[Target { key: KEY, limit }], now: START }).expect("it forgets");
        assert_eq!(bench.server.keys(), ["limit:ask:498888:x", "limit:asks"], "{limit:?}");
    }
    bench.forget(&Forget { targets: &[], now: START }).expect("nothing is no error");
}
