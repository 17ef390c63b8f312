//! A client that waits until `retry_at`, alone, is admitted; one millisecond earlier it is not.

use proptest::prelude::*;
use tollgate_core::{Charging, Limit, State, Step, Timestamp, Units, Verdict};

use crate::support::{CHARGINGS, at, units, width};

const LARGEST: u64 = Units::MAX.get();
const WIDEST: u64 = 1 << 40;

/// Checks one answer on both sides of its instant, with what was written on the way.
fn check(
    limit: Limit,
    state: Option<State>,
    cost: u64,
    now: u64,
    charging: Charging,
) -> Result<(), TestCaseError> {
    let Step { decision, state } = limit.step(state, units(cost), at(now), charging, true);
    let fits =
        |later: u64| limit.step(state, units(cost), at(later), Charging::Never, true).decision.is_allowed();
    match decision.verdict() {
        Verdict::Allow => {
            prop_assert_eq!(decision.retry_at(), None);
            prop_assert_eq!(decision.retry_after(at(now)), None);
        }
        Verdict::Deny { retry_at: None } => {
            prop_assert!(!limit.can_ever_fit(units(cost)));
            for later in [now, now * 2, now + limit.period().ms(), LARGEST] {
                prop_assert!(!fits(later));
            }
        }
        Verdict::Deny { retry_at: Some(retry_at) } => {
            prop_assert!(limit.can_ever_fit(units(cost)));
            prop_assert!(retry_at > at(now));
            prop_assert_eq!(decision.retry_at(), Some(retry_at));
            prop_assert_eq!(decision.retry_after(at(now)), Some(retry_at.since(at(now))));
            prop_assert!(!fits(retry_at.unix_ms() - 1));
            prop_assert!(!fits(now.midpoint(retry_at.unix_ms() - 1)));
            // The end of time stands for everything after it.
            if retry_at < Timestamp::MAX {
                prop_assert!(fits(retry_at.unix_ms()));
            }
        }
    }
    Ok(())
}

/// Small, middling and the largest amounts.
fn amount() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..=20, 0u64..=100_000, 0..=LARGEST, LARGEST - 20..=LARGEST]
}

/// Windows of every length, the widest too.
fn length() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..=20, 1u64..=100_000_000, 1..=WIDEST, WIDEST - 20..=WIDEST]
}

/// Amounts that belong together: of like size, at a quota, just beside it, or anything.
fn amounts() -> impl Strategy<Value = [u64; 4]> {
    let beside = |quota: u64| {
        prop_oneof![
            2 => 0..=quota,
            1 => quota.saturating_sub(2)..=quota.saturating_add(2).min(LARGEST),
            1 => quota..=quota.saturating_mul(3).min(LARGEST),
            1 => amount(),
        ]
    };
    amount()
        .prop_flat_map(move |quota| (Just(quota), beside(quota), beside(quota), beside(quota)))
        .prop_map(|(quota, used, before, cost)| [quota, used, before, cost])
}

fn charging() -> impl Strategy<Value = Charging> {
    prop::sample::select(&CHARGINGS[..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn windows_know_the_millisecond(
        window in length(),
        index in 1u64..=1_000,
        [quota, used, before, cost] in amounts(),
        sliding in prop::bool::weighted(0.8),
        now in any::<prop::sample::Index>(),
        charging in charging(),
    ) {
        let limit = if sliding { Limit::sliding } else { Limit::fixed }(quota, width(window));
        let start = index * window;
        let state = State::Window {
            start: at(start),
            end: at(start + window),
            used: units(used),
            before: units(before),
        };
        // From one window behind to the end of the window after.
        let span = usize::try_from(3 * window).unwrap();
        let now = start - window + now.index(span) as u64;
        check(limit, Some(state), cost, now, charging)?;
    }

    #[test]
    fn buckets_know_the_millisecond(
        interval in length(),
        [capacity, refill, debt, cost] in amounts(),
        refilled_at in 0u64..=1 << 45,
        in_debt in any::<bool>(),
        now in 0u64..=1 << 46,
        charging in charging(),
    ) {
        let debt = debt.cast_signed();
        let tokens = if in_debt { -debt } else { debt };
        let limit = Limit::bucket(capacity, refill.max(1), width(interval));
        let state = State::Bucket { refilled_at: at(refilled_at), tokens };
        check(limit, Some(state), cost, now, charging)?;
        check(limit, None, cost, now, charging)?;
    }
}

/// Every window of up to 12 ms, every offset, every small count: all remainders of `prev·(W−x)` by W are among them.
#[test]
fn every_small_point_is_exact() {
    for window in 1..=12u64 {
        for before in 0..=2 * window + 1 {
            for offset in 0..window {
                for (used, cost) in [(0, 1), (1, 1), (0, 3), (4, 2)] {
                    let weight = (before * (window - offset)).div_ceil(window);
                    let state = State::Window {
                        start: at(10 * window),
                        end: at(11 * window),
                        used: units(used),
                        before: units(before),
                    };
                    let now = 10 * window + offset;
                    for quota in (used + cost + weight).saturating_sub(1)..=used + cost + weight {
                        let limit = Limit::sliding(quota, width(window));
                        let step = limit.step(Some(state), units(cost), at(now), Charging::Never, true);
                        assert_eq!(
                            step.decision.is_allowed(),
                            used + cost + weight <= quota,
                            "{before}·({window}−{offset}), {used} + {cost} of {quota}"
                        );
                        for charging in CHARGINGS {
                            check(limit, Some(state), cost, now, charging).unwrap();
                        }
                    }
                }
            }
        }
    }
}

/// The points where `prev·(W−x)` leaves 0, 1 or W − 1 by W, in windows so wide that the product passes 64 bits.
#[test]
fn every_large_point_is_exact() {
    for window in [WIDEST, WIDEST - 87, 86_400_000, 60_000] {
        for share in [1, 3, 7, 12_345, window / 2 + 1, window - 1, window] {
            for remainder in [0, 1, window - 1] {
                // The largest count that leaves it: `share` has an inverse, or leaves only multiples of a divisor.
                let Some(least) = leaving(remainder, share, window) else { continue };
                let before = least + (LARGEST / 2 - least) / window * window;
                let product = u128::from(before) * u128::from(share);
                assert_eq!(product % u128::from(window), u128::from(remainder));
                let weight = u64::try_from(product.div_ceil(u128::from(window))).unwrap();
                let state = State::Window {
                    start: at(8 * window),
                    end: at(9 * window),
                    used: units(5),
                    before: units(before),
                };
                let now = 9 * window - share;
                for (quota, fits) in [(weight + 11, false), (weight + 12, true)] {
                    let limit = Limit::sliding(quota, width(window));
                    let step = limit.step(Some(state), units(7), at(now), Charging::IfAllowed, true);
                    assert_eq!(step.decision.is_allowed(), fits, "{before}·{share} by {window}");
                    assert_eq!(
                        step.decision.remaining(),
                        if fits { 0 } else { 6 },
                        "{before}·{share} by {window}"
                    );
                    for charging in CHARGINGS {
                        check(limit, Some(state), 7, now, charging).unwrap();
                    }
                    // The millisecond before weighs as much or more.
                    check(limit, Some(state), 7, now - 1, Charging::IfAllowed).unwrap();
                }
            }
        }
    }
}

/// The least count that times `share` leaves `remainder` by `window`, if there is one.
fn leaving(remainder: u64, share: u64, window: u64) -> Option<u64> {
    if remainder == 0 {
        return Some(0);
    }
    // The extended Euclid: `share·inverse ≡ 1` where they have no divisor in common.
    let (mut old, mut new) = (i128::from(share), i128::from(window));
    let (mut inverse, mut next) = (1i128, 0i128);
    while new != 0 {
        let quotient = old / new;
        (old, new) = (new, old - quotient * new);
        (inverse, next) = (next, inverse - quotient * next);
    }
    let window = i128::from(window);
    if old != 1 {
        return None;
    }
    u64::try_from((inverse * i128::from(remainder)).rem_euclid(window)).ok()
}

#[test]
fn a_bucket_that_is_never_refilled_says_never() {
    // The constructors refuse it; a limit written out by hand can still be one.
    let limit = Limit::TokenBucket { capacity: units(3), refill: Units::ZERO, interval: width(10) };
    let step = limit.step(None, units(2), at(0), Charging::IfAllowed, true);
    assert!(step.decision.is_allowed());
    assert_eq!(limit.idle_at(&step.state.unwrap()), Timestamp::MAX);
    let step = limit.step(step.state, units(2), at(u64::MAX), Charging::IfAllowed, true);
    assert_eq!(step.decision.verdict(), Verdict::Deny { retry_at: None });
}

#[test]
fn the_end_of_time_stands_for_everything_after_it() {
    let last = Timestamp::MAX.unix_ms() - 1;
    for limit in
        [Limit::fixed(1, width(WIDEST)), Limit::sliding(1, width(WIDEST)), Limit::bucket(1, 1, width(WIDEST))]
    {
        let step = limit.step(None, Units::ONE, at(last), Charging::IfAllowed, true);
        let refused = limit.step(step.state, Units::ONE, Timestamp::MAX, Charging::IfAllowed, true).decision;
        assert_eq!(
            (refused.retry_at(), refused.reset_at()),
            (Some(Timestamp::MAX), Timestamp::MAX),
            "{limit}"
        );
    }
}
