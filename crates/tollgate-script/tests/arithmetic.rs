//! The scripts against the core, on states from everywhere in the range: each is planted, met by one call, and read back.

use proptest::{prelude::*, test_runner::TestRunner};
use tollgate_core::{Charging, Limit, Stamp, State, Timestamp, Units, Window};
use tollgate_store::{
    Charge, Correction, Decisions, Key, Name, Part, Settle, SettleId, StoreErrorKind, Take,
};

use crate::support::Bench;

const MOST: u64 = Units::MAX.get();
const DEEPEST: i64 = -MOST.cast_signed();

fn key<'a>(part: &'a Part<'static>) -> Key<'a> {
    Key::new(Name::new("a"), std::slice::from_ref(part))
}

const PARTS: [Part<'static>; 3] = [Part::Number(0), Part::Number(1), Part::Number(2)];

/// Small numbers, the largest, and those beside powers of two: where arithmetic in doubles goes wrong.
fn units() -> impl Strategy<Value = u64> {
    let beside = (0_u32..54, 0_u64..3).prop_map(|(power, less)| ((1_u64 << power) + 1).saturating_sub(less));
    prop_oneof![0_u64..20, beside, (MOST - 3)..=MOST, 0..=MOST].prop_map(|units| units.min(MOST))
}

fn width() -> impl Strategy<Value = Window> {
    let most = Window::MAX.ms();
    prop_oneof![1_u64..5, 1_000_u64..100_000, Just(86_400_000), (most - 3)..=most].prop_map(Window::from_ms)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (units(), width()).prop_map(|(quota, window)| Limit::fixed(quota, window)),
        (units(), width()).prop_map(|(quota, window)| Limit::sliding(quota, window)),
        (units(), units(), width()).prop_map(|(capacity, refill, interval)| Limit::TokenBucket {
            capacity: Units::new(capacity),
            refill: Units::new(refill),
            interval,
        }),
    ]
}

/// Instants a server can keep a state for: it refuses lifetimes that end beyond its own numbers.
fn now() -> impl Strategy<Value = Timestamp> {
    prop_oneof![0_u64..1_000, 1_760_000_000_000_u64..1_770_000_000_000, (MOST - 3)..=MOST, 0..=MOST]
        .prop_map(Timestamp::from_unix_ms)
}

/// What is planted: counters at places around the current window, or a bucket that was refilled a while ago.
#[derive(Clone, Debug)]
struct Planted {
    counters: [Option<u64>; 4],
    refilled: Option<(i64, i64)>,
}

fn planted() -> impl Strategy<Value = Planted> {
    let counter = || prop_oneof![2 => Just(None), 3 => units().prop_map(Some)];
    // Seldom anything in the windows to come: it decides all the rest.
    let rare = |weight| prop_oneof![weight => Just(None), 1 => units().prop_map(Some)];
    let tokens =
        prop_oneof![units().prop_map(u64::cast_signed), units().prop_map(|units| -units.cast_signed())];
    let ago = prop_oneof![Just(0), -5_000_i64..5_000, -(1_i64 << 42)..(1 << 50)];
    let bucket = prop_oneof![1 => Just(None), 6 => (ago, tokens).prop_map(Some)];
    (counter(), counter(), rare(4), rare(20), bucket)
        .prop_map(|(a, b, c, d, refilled)| Planted { counters: [a, b, c, d], refilled })
}

/// Puts it under a key, and says what state that is.
fn plant(
    bench: &Bench,
    part: &Part<'static>,
    limit: &Limit,
    now: Timestamp,
    planted: &Planted,
) -> Option<State> {
    let stem = format!("limit:{}", key(part));
    let now_ms = now.unix_ms().min(MOST - 1);
    match *limit {
        Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => {
            let number = i64::try_from(now_ms / window.ms()).expect("small");
            // No clock gets before the first window, or to one that begins where instants end.
            let last = i64::try_from((MOST - 1) / window.ms()).expect("small");
            let mut counters = planted.counters;
            counters
                .iter_mut()
                .zip(-1..)
                .filter(|(_, place)| !(0..=last).contains(&(number + place)))
                .for_each(|(counter, _)| *counter = None);
            for (counter, place) in counters.iter().zip(-1..) {
                if let Some(counter) = counter {
                    bench.run(&[
                        "SET",
                        &format!("{stem}:{}", number + place),
                        &counter.to_string(),
                        "PX",
                        "1000",
                    ]);
                }
            }
            let slides = matches!(limit, Limit::SlidingWindow { .. });
            let newest = (0..4).rev().find(|&at| counters[at].is_some() && (at > 0 || slides))?;
            let started = u64::try_from(number + i64::try_from(newest).expect("small") - 1).ok()?;
            let start = Timestamp::from_unix_ms(started * window.ms());
            Some(State::Window {
                start,
                end: start.saturating_add_ms(window.ms()),
                used: Units::new(counters[newest].unwrap_or(0)),
                before: Units::new(newest.checked_sub(1).and_then(|at| counters[at]).unwrap_or(0)),
            })
        }
        Limit::TokenBucket { .. } => {
            let (ago, tokens) = planted.refilled?;
            let at = i64::try_from(now_ms).expect("small").saturating_sub(ago).clamp(0, MOST.cast_signed());
            let key = format!("limit:{}", key(part));
            bench.run(&["HSET", &key, "refilledAt", &at.to_string(), "tokens", &tokens.to_string()]);
            Some(State::Bucket { refilled_at: Timestamp::from_unix_ms(at.cast_unsigned()), tokens })
        }
    }
}

/// Holds what is stored under a key against a state, and its lifetime against the core's.
fn check(
    bench: &Bench,
    part: &Part<'static>,
    limit: &Limit,
    now: Timestamp,
    state: Option<State>,
    written: bool,
) -> Result<(), TestCaseError> {
    let Some(state) = state else { return Ok(()) };
    let stem = format!("limit:{}", key(part));
    let (key, newest) = match (state, limit) {
        (
            State::Window { start, used, .. },
            Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. },
        ) => {
            let key = format!("{stem}:{}", start.unix_ms() / window.ms());
            prop_assert_eq!(bench.text(&["GET", &key]), Some(used.to_string()));
            (key, now.max(start))
        }
        (State::Bucket { refilled_at, tokens }, Limit::TokenBucket { .. }) => {
            prop_assert_eq!(bench.text(&["HGET", &stem, "tokens"]), Some(tokens.to_string()));
            prop_assert_eq!(
                bench.text(&["HGET", &stem, "refilledAt"]),
                Some(refilled_at.to_string().replace(" ms", ""))
            );
            (stem, now.max(refilled_at))
        }
        _ => unreachable!("a state is of its limit's kind"),
    };
    if written {
        let lives = bench.lives(&key);
        let owed = i64::try_from(limit.idle_at(&state).since(newest).as_millis()).expect("small");
        // Some time passes between the write and the question.
        prop_assert!(lives >= 0, "{} lives for ever", key);
        prop_assert!(
            lives > owed.min(MOST.cast_signed() - 1_000) - 500,
            "{} lives {} of {} ms",
            key,
            lives,
            owed
        );
        // A counter that was emptied keeps its lifetime.
        let most = match (state, limit) {
            (State::Window { .. }, _) => 2 * limit.period().ms().cast_signed(),
            // Never idle: it lives for as long as a number can say.
            _ if limit.idle_at(&state) == Timestamp::MAX => MOST.cast_signed(),
            _ => owed,
        };
        prop_assert!(lives <= most + 1_000, "{} lives {} of {} ms", key, lives, most);
    }
    Ok(())
}

/// Any cost, or one beside what is left: that is where a test is right or wrong.
#[derive(Clone, Copy, Debug)]
enum Cost {
    Any(u64),
    Beside(i64),
}

impl Cost {
    fn of(self, limit: &Limit, found: Option<State>, now: Timestamp) -> Units {
        match self {
            Self::Any(units) => Units::new(units),
            Self::Beside(by) => {
                let left = limit.step(found, Units::ZERO, now, Charging::Never, false).decision.left();
                Units::saturating(u64::try_from(left.saturating_add(by)).unwrap_or(0))
            }
        }
    }
}

fn cost() -> impl Strategy<Value = Cost> {
    prop_oneof![units().prop_map(Cost::Any), (-1_i64..=1).prop_map(Cost::Beside)]
}

fn charging() -> impl Strategy<Value = (Charging, bool)> {
    let charging =
        prop_oneof![4 => Just(Charging::IfAllowed), 2 => Just(Charging::Always), 1 => Just(Charging::Never)];
    (charging, prop::bool::weighted(0.8))
}

#[test]
fn a_take_is_what_the_core_makes_of_it() {
    let bench = Bench::start();
    let one = || (limit(), planted(), cost(), charging());
    let charges = prop_oneof![3 => prop::collection::vec(one(), 1), 1 => prop::collection::vec(one(), 2..=3)];
    TestRunner::new(ProptestConfig::with_cases(4_000))
        .run(&(charges, now()), |(charges, now)| {
            bench.run(&["FLUSHALL"]);
            let found: Vec<_> = charges
                .iter()
                .zip(&PARTS)
                .map(|((limit, planted, ..), part)| plant(&bench, part, limit, now, planted))
                .collect();
            let asked: Vec<_> = charges
                .iter()
                .zip(&PARTS)
                .zip(&found)
                .map(|(((limit, _, cost, (charging, enforce)), part), found)| Charge {
                    key: key(part),
                    limit: *limit,
                    cost: cost.of(limit, *found, now),
                    charging: *charging,
                    enforce: *enforce,
                })
                .collect();
            let take = Take { charges: &asked, now };
            let before = bench.everything();
            let mut states = Vec::new();
            let want = Decisions::decide(&take, found.iter().copied(), |_, state| states.push(state));
            match (bench.take(&take), want) {
                (Ok(got), Ok(want)) => prop_assert_eq!(got, want),
                (Err(got), Err(want)) => {
                    prop_assert_eq!(got.kind(), StoreErrorKind::ClockBehind);
                    prop_assert_eq!(want.kind(), StoreErrorKind::ClockBehind);
                    prop_assert_eq!(bench.everything(), before);
                    return Ok(());
                }
                (got, want) => prop_assert!(false, "the script: {:?}, the core: {:?}", got, want),
            }
            for (at, state) in states.into_iter().enumerate() {
                check(&bench, &PARTS[at], &asked[at].limit, now, state, state != found[at])?;
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn the_largest_debt_and_the_largest_bucket_are_reckoned_exactly() {
    let bench = Bench::start();
    let now = Timestamp::from_unix_ms(1_796_040_000_000);
    // From two owed, two refills of 2^52 lead to 2^53 − 2: one short of full, though 2^53 + 1 is no number of Lua's.
    let limit = Limit::bucket(MOST, 1 << 52, Window::from_ms(500));
    let planted = Planted { counters: [None; 4], refilled: Some((1_000, -2)) };
    let found = plant(&bench, &PARTS[0], &limit, now, &planted);
    let charge = Charge { cost: Units::new(MOST), ..Charge::new(key(&PARTS[0]), limit) };
    let take = Take { charges: &[charge], now };
    let decisions = bench.take(&take).expect("script and core agree");
    assert_eq!(decisions[0].left(), (MOST - 1).cast_signed());
    assert!(!decisions[0].is_allowed());
    assert_eq!(Ok(decisions), Decisions::decide(&take, [found], |_, _| ()).map_err(|error| error.kind()));
}

#[test]
fn a_settlement_is_what_the_core_makes_of_it() {
    let bench = Bench::start();
    let delta = prop_oneof![
        units().prop_map(u64::cast_signed),
        units().prop_map(|units| -units.cast_signed()),
        any::<i64>(),
        Just(2 * DEEPEST),
        Just(i64::MIN),
        Just(i64::MAX),
    ];
    TestRunner::new(ProptestConfig::with_cases(3_000))
        .run(&(limit(), planted(), delta, now(), 0_u64..3), |(limit, planted, delta, now, back)| {
            bench.run(&["FLUSHALL"]);
            let part = &PARTS[0];
            let state = plant(&bench, part, &limit, now, &planted);
            // A stamp of the newest window or of one of the two before it.
            let end = match state {
                Some(State::Window { end, .. }) => end.unix_ms(),
                Some(State::Bucket { .. }) | None => 0,
            };
            let window = limit.period().ms();
            let stamp = Stamp::ending_at(Timestamp::from_unix_ms(end.saturating_sub(back * window)));
            let correction = Correction { key: key(part), limit, stamp, delta };
            let settle = Settle { id: SettleId::new(7), corrections: &[correction], now };
            prop_assert!(bench.settle(&settle).is_ok());
            let want = limit.settle(state, stamp, delta, now);
            let newest = matches!(state, Some(State::Bucket { .. })) || back == 0;
            if newest {
                check(&bench, part, &limit, now, want, want != state)?;
            } else if let (Some(State::Window { start, before, .. }), Limit::SlidingWindow { window, .. }) =
                (want, limit)
            {
                // What weighs beside it is the window before.
                if let Some(number) = (start.unix_ms() / window.ms()).checked_sub(1) {
                    let counter = bench.text(&["GET", &format!("limit:{}:{number}", key(part))]);
                    prop_assert_eq!(counter.unwrap_or_else(|| "0".into()), before.to_string());
                }
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
