//! A value that is none of ours, planted under every key in turn: nothing is half done.

use std::time::Duration;

use tollgate_core::{Charging, Limit, Stamp, Timestamp, Units, Window};
use tollgate_script::{Call, Replay, settle_call, take_call};
use tollgate_store::{Charge, Correction, Key, Name, Settle, SettleId, StoreErrorKind, Take};
use tollgate_testbed::{owed::EIGHT, strangers};

use crate::support::Bench;

const NOW: Timestamp = Timestamp::from_unix_ms(1_796_040_000_250);

/// Eight charges of every kind, some of which are written whatever the others do.
const LIMITS: [Limit; 8] = [
    Limit::fixed(9, Window::MINUTE),
    Limit::bucket(9, 1, Window::MINUTE),
    Limit::sliding(9, Window::MINUTE),
    Limit::bucket(9, 1, Window::HOUR),
    Limit::fixed(9, Window::HOUR),
    Limit::sliding(9, Window::HOUR),
    Limit::fixed(9, Window::DAY),
    Limit::bucket(9, 1, Window::DAY),
];

fn keys() -> [Key<'static>; 8] {
    std::array::from_fn(|at| Key::new(Name::new("ask"), &EIGHT[at..=at]))
}

fn charges() -> [Charge<'static>; 8] {
    let keys = keys();
    std::array::from_fn(|at| Charge {
        cost: Units::new(2),
        charging: if at % 2 == 0 { Charging::Always } else { Charging::IfAllowed },
        ..Charge::new(keys[at], LIMITS[at])
    })
}

/// Plants each under each of the keys beside good values, and demands an error of its own kind and nothing written.
fn plant_everywhere<'a>(bench: &Bench, call: &Call, keys: impl Iterator<Item = &'a str>) {
    for key in keys {
        let is_bucket = key.matches(':').count() == 2;
        for words in strangers(key, is_bucket) {
            bench.run(&["FLUSHALL"]);
            bench.run(&words);
            let before = bench.everything();
            let error = bench.call(call).map(|reply| panic!("{words:?}: {reply:?}")).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Reject, "{words:?}: {error}");
            assert!(!error.to_string().contains("ask"), "{error} names a key");
            assert_eq!(bench.everything(), before, "{words:?}");
        }
    }
}

#[test]
fn a_take_that_finds_something_else_writes_nothing() {
    let bench = Bench::start();
    let charges = charges();
    let take = Take { charges: &charges, now: NOW };
    for replay in [None, Some(Replay::new(1, Duration::from_secs(5)))] {
        let call = take_call(&bench.prefix, &take, replay).expect("a good take");
        let counted = call.keys.len() - usize::from(replay.is_some());
        assert_eq!(counted, 3 * 3 + 2 * 4 + 3);
        plant_everywhere(&bench, &call, call.keys.iter().take(counted));
    }
}

#[test]
fn a_settlement_that_finds_something_else_writes_nothing() {
    let bench = Bench::start();
    let keys = keys();
    let corrections: [_; 8] = std::array::from_fn(|at| {
        let end = |window: Window| NOW.unix_ms() / window.ms() * window.ms() + window.ms();
        let stamp = match LIMITS[at] {
            Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => end(window),
            Limit::TokenBucket { .. } => NOW.unix_ms(),
        };
        Correction {
            key: keys[at],
            limit: LIMITS[at],
            stamp: Stamp::ending_at(Timestamp::from_unix_ms(stamp)),
            delta: 1,
        }
    });
    let settle = Settle { id: SettleId::new(1), corrections: &corrections, now: NOW };
    let call = settle_call(&bench.prefix, &settle).expect("a good settlement");
    assert_eq!(call.keys.len(), 9);
    plant_everywhere(&bench, &call, call.keys.iter().skip(1));
}

#[test]
fn what_other_limiters_write_is_read() {
    let bench = Bench::start();
    let [fixed, bucket, sliding, ..] = charges().map(|charge| Charge { cost: Units::ONE, ..charge });
    let left = |charge: Charge<'_>| {
        let charge = Charge { charging: Charging::IfAllowed, ..charge };
        bench.take(&Take { charges: &[charge], now: NOW }).expect("it counts")[0].left()
    };
    // Given back before anything was spent, at the other limiter: it is no more than the quota here.
    bench.run(&["SET", "limit:ask:0:29934000", "-4"]);
    assert_eq!(left(fixed), 8);
    assert_eq!(left(fixed), 7);
    bench.run(&["SET", "limit:ask:2:29933999", "-4"]);
    bench.run(&["SET", "limit:ask:2:29934000", "3"]);
    assert_eq!(left(sliding), 5);
    // Refused requests count there, so a counter may be beyond the quota.
    bench.run(&["SET", "limit:ask:0:29934000", "12"]);
    assert_eq!(left(fixed), -3);
    // Fractions of tokens may be spent there; what is left of one cannot be spent here.
    let now = NOW.unix_ms().to_string();
    bench.run(&["HSET", "limit:ask:1", "refilledAt", &now, "tokens", "2.5"]);
    assert_eq!(left(bucket), 1);
    bench.run(&["HSET", "limit:ask:1", "refilledAt", &now, "tokens", "-0.5"]);
    assert_eq!(left(bucket), -1);
}
