//! What a state says, when it says nothing any more, and what a correction does to it.

use proptest::prelude::*;
use tollgate_core::{Charging, Decision, Limit, Stamp, State, Timestamp, Units, Window};

use crate::support::{CHARGINGS, Held, at, units, width};

/// A limit and a state of its own kind, small enough that edges are met often.
fn limit_and_state() -> impl Strategy<Value = (Limit, State)> {
    let windows = (1u64..=12, 0u64..=6, any::<bool>(), 3u64..=6, 0u64..=8, 0u64..=8).prop_map(
        |(window, quota, sliding, index, used, before)| {
            let start = index * window;
            let limit = if sliding { Limit::sliding } else { Limit::fixed };
            let state = State::Window {
                start: at(start),
                end: at(start + window),
                used: units(used),
                before: units(before),
            };
            (limit(quota, width(window)), state)
        },
    );
    let buckets = (1u64..=12, 0u64..=6, 1u64..=4, 0u64..=40, -8i64..=8).prop_map(
        |(interval, capacity, refill, refilled_at, tokens)| {
            let state = State::Bucket { refilled_at: at(refilled_at), tokens };
            (Limit::bucket(capacity, refill, width(interval)), state)
        },
    );
    prop_oneof![3 => windows, 2 => buckets]
}

/// What can be asked of a key: charges, and corrections of the window the instant lies in or of one beside it.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Charge(u64, Charging),
    Settle(i64, u64),
}

fn asks() -> impl Strategy<Value = Vec<(u64, Ask)>> {
    let ask = prop_oneof![
        2 => (0u64..=8, prop::sample::select(&CHARGINGS[..]))
            .prop_map(|(cost, charging)| Ask::Charge(cost, charging)),
        1 => (-8i64..=8, 0u64..=2).prop_map(|(delta, window)| Ask::Settle(delta, window)),
    ];
    prop::collection::vec((0u64..=8, ask), 1..8)
}

/// Every answer that a state gives from `now` on.
fn answers(limit: Limit, state: Option<State>, mut now: u64, asks: &[(u64, Ask)]) -> Vec<Decision> {
    let mut key = Held { limit, state };
    let window = limit.period().ms();
    let mut answers = vec![key.peek(1, now)];
    for &(later, ask) in asks {
        now += later;
        match ask {
            Ask::Charge(cost, charging) => answers.push(key.charge(cost, now, charging)),
            Ask::Settle(delta, ahead) => {
                let end = (now / window + ahead) * window;
                key.settle(Stamp::ending_at(at(end)), delta, now);
            }
        }
        answers.push(key.peek(1, now));
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_not_charged_leaves_the_state_as_it_was(
        (limit, state) in limit_and_state(),
        missing in prop::bool::weighted(0.2),
        cost in 0u64..=8,
        now in 0u64..=100,
        charging in prop::sample::select(&CHARGINGS[..]),
        admitted in any::<bool>(),
    ) {
        let state = (!missing).then_some(state);
        let step = limit.step(state, units(cost), at(now), charging, admitted);
        let charged = cost > 0 && match charging {
            Charging::IfAllowed => step.decision.is_allowed() && admitted,
            Charging::Always => true,
            Charging::Never => false,
        };
        if charged {
            prop_assert_ne!(step.state, state);
        } else {
            prop_assert_eq!(step.state, state);
            // What was not charged is not counted in the answer either.
            prop_assert_eq!(step.decision.left(), Held { limit, state }.peek(0, now).left());
        }
    }

    #[test]
    fn an_idle_state_says_what_no_state_says(
        (limit, state) in limit_and_state(),
        later in prop_oneof![Just(0u64), 0u64..=40],
        asks in asks(),
    ) {
        let now = limit.idle_at(&state).unix_ms() + later;
        prop_assert_eq!(answers(limit, Some(state), now, &asks), answers(limit, None, now, &asks));
    }

    /// One millisecond before, something can still be asked that tells it from no state.
    #[test]
    fn no_state_is_called_idle_too_late((limit, state) in limit_and_state()) {
        let idle_at = limit.idle_at(&state).unix_ms();
        prop_assume!(idle_at > 0);
        let before = |state, ask| answers(limit, state, idle_at - 1, &[(0, ask)]);
        let differs = (1..=8u64)
            .flat_map(|cost| CHARGINGS.map(|charging| Ask::Charge(cost, charging)))
            .any(|ask| before(Some(state), ask) != before(None, ask));
        prop_assert!(differs);
    }

    #[test]
    fn a_state_of_another_width_or_kind_is_no_state(
        (limit, _) in limit_and_state(),
        (other, state) in limit_and_state(),
        shift in 0u64..=11,
        now in 0u64..=100,
        asks in asks(),
    ) {
        // As another limit wrote it, and moved off the grid.
        let shifted = match state {
            State::Window { start, end, used, before } => State::Window {
                start: start.saturating_add_ms(shift),
                end: end.saturating_add_ms(shift),
                used,
                before,
            },
            State::Bucket { .. } => state,
        };
        for state in [state, shifted] {
            let counts_buckets = matches!(limit, Limit::TokenBucket { .. });
            let own = match state {
                State::Window { start, end, .. } => {
                    let window = limit.period();
                    !counts_buckets && start.unix_ms() % window.ms() == 0 && end.since(start) == window.duration()
                }
                State::Bucket { .. } => counts_buckets,
            };
            if own {
                continue;
            }
            let without = answers(limit, None, now, &asks);
            prop_assert_eq!(answers(limit, Some(state), now, &asks), without, "{}", other);
            prop_assert_eq!(limit.idle_at(&state), Timestamp::EPOCH);
            prop_assert!(limit.check_clock(Some(&state), at(now)).is_ok());
            let settle = |state, delta| limit.settle(state, Stamp::ending_at(at(now)), delta, at(now));
            prop_assert_eq!(settle(Some(state), -5), Some(state));
            // A bucket that is not there is full, and owes what was used beyond the estimate.
            let owed = if counts_buckets { settle(None, 5) } else { Some(state) };
            prop_assert_eq!(settle(Some(state), 5), owed);
        }
    }

    /// Whatever a state says, nothing panics, and what is admitted is no more than the quota.
    #[test]
    fn extremes_are_safe(
        (window, index) in (extreme(), extreme()),
        (quota, other, cost) in (extreme(), extreme(), extreme()),
        (used, before) in (extreme(), extreme()),
        (first, second) in (extreme(), extreme()),
        (tokens, delta) in (extreme_signed(), extreme_signed()),
    ) {
        let window = width((window % Window::MAX.ms()).max(1));
        let [quota, other, cost, used, before] = [quota, other, cost, used, before].map(Units::saturating);
        let start = at(index - index % window.ms());
        let states = [
            None,
            Some(State::Window { start, end: start.saturating_add_ms(window.ms()), used, before }),
            Some(State::Window { start: at(first), end: at(second), used, before }),
            Some(State::Bucket { refilled_at: at(index), tokens }),
        ];
        let limits = [
            Limit::FixedWindow { quota, window },
            Limit::SlidingWindow { quota, window },
            Limit::TokenBucket { capacity: quota, refill: other, interval: window },
        ];
        for limit in limits {
            prop_assert!(limit.period() <= Window::MAX);
            for state in states {
                for now in [first, second, 0, u64::MAX].map(at) {
                    for charging in CHARGINGS {
                        let step = limit.step(state, cost, now, charging, true);
                        let decision = step.decision;
                        prop_assert!(decision.remaining() <= quota.get());
                        prop_assert!(!decision.is_allowed() || (cost <= quota && quota > Units::ZERO));
                        prop_assert!(decision.left() <= quota.get().cast_signed());
                        if let Some(after) = step.state {
                            let _ = limit.idle_at(&after);
                            let _ = limit.check_clock(Some(&after), now);
                            for end in [decision.reset_at(), start, at(second)] {
                                let _ = limit.settle(Some(after), Stamp::ending_at(end), delta, now);
                            }
                        }
                        if charging == Charging::IfAllowed && decision.is_allowed() && cost > Units::ZERO {
                            let spent = decision.used().get();
                            prop_assert!(spent >= cost.get() && spent <= quota.get());
                        }
                    }
                }
            }
        }
    }
}

/// The ends, the edges of the bounds, and anything between.
fn extreme() -> impl Strategy<Value = u64> {
    let edges =
        [0, 1, 2, (1 << 40) - 1, 1 << 40, (1 << 53) - 2, (1 << 53) - 1, 1 << 53, u64::MAX - 1, u64::MAX];
    prop_oneof![prop::sample::select(edges.to_vec()), 0u64..=1 << 53, any::<u64>()]
}

fn extreme_signed() -> impl Strategy<Value = i64> {
    let deepest = -(1i64 << 53) + 1;
    let edges = [i64::MIN, i64::MIN + 1, deepest - 1, deepest, deepest + 1, -1, 0, 1, i64::MAX];
    prop_oneof![prop::sample::select(edges.to_vec()), any::<i64>()]
}

#[test]
fn the_largest_counts_saturate() {
    let largest = Units::MAX.get();
    for limit in
        [Limit::fixed(5, Window::DAY), Limit::sliding(5, Window::DAY), Limit::bucket(5, 1, Window::DAY)]
    {
        let mut key = Held::nothing(limit);
        for _ in 0..3 {
            key.spend(largest, 1);
        }
        let decision = key.peek(1, 1);
        let deepest = if matches!(limit, Limit::TokenBucket { .. }) {
            -largest.cast_signed()
        } else {
            5 - largest.cast_signed()
        };
        assert_eq!((decision.left(), decision.used()), (deepest, Units::MAX), "{limit}");
        // A correction counts from there, and goes no deeper either.
        let stamp = decision.stamp();
        key.settle(stamp, i64::MAX, 1);
        assert_eq!(key.peek(1, 1), decision, "{limit}");
        key.settle(stamp, -10, 1);
        assert_eq!(key.peek(1, 1).left(), deepest + 10, "{limit}");
    }
}

/// A debt below the deepest, which no limit writes, is the deepest.
#[test]
fn a_deeper_debt_is_the_deepest() {
    let limit = Limit::bucket(Units::MAX.get(), Units::MAX.get(), width(10));
    for tokens in [i64::MIN, -Units::MAX.get().cast_signed()] {
        let state = State::Bucket { refilled_at: at(0), tokens };
        assert_eq!(limit.idle_at(&state), at(20));
        let mut key = Held { limit, state: Some(state) };
        assert_eq!(
            [9, 10, 20].map(|now| key.peek(0, now).left()),
            [-Units::MAX.get().cast_signed(), 0, Units::MAX.get().cast_signed()]
        );
        key.spend(Units::MAX.get(), 0);
        assert_eq!(key.peek(0, 10).left(), 0);
    }
}

/// Window of 10 ms, quota 10: what a correction of the window that ended at `stamp` makes of the two counters.
#[test]
fn a_window_is_corrected_where_it_was_charged() {
    let state =
        |used, before| State::Window { start: at(20), end: at(30), used: units(used), before: units(before) };
    for (used, before, stamp, delta, now, expected) in [
        // In its own window: back, more, past the quota, never below 0.
        (5, 4, 30, -2, 25, (3, 4)),
        (5, 4, 30, 2, 25, (7, 4)),
        (5, 4, 30, 20, 25, (25, 4)),
        (5, 4, 30, -9, 25, (0, 4)),
        (5, 4, 30, i64::MIN, 25, (0, 4)),
        (5, 4, 30, 0, 25, (5, 4)),
        // From the next window the charge is still in the state it was written to.
        (5, 4, 30, -2, 31, (3, 4)),
        // The window before, while it weighs.
        (5, 4, 20, -3, 25, (5, 1)),
        (5, 4, 20, 3, 25, (5, 7)),
        (5, 4, 20, -9, 25, (5, 0)),
        // A counter of 0 is none, and is not brought back.
        (0, 4, 30, 3, 25, (0, 4)),
        (5, 0, 20, 3, 25, (5, 0)),
        (0, 0, 30, 3, 25, (0, 0)),
        // What no longer counts, or does not yet.
        (5, 4, 10, -3, 25, (5, 4)),
        (5, 4, 40, 3, 25, (5, 4)),
        (5, 4, 25, -3, 25, (5, 4)),
    ] {
        for limit in [Limit::fixed(10, width(10)), Limit::sliding(10, width(10))] {
            let settled =
                limit.settle(Some(state(used, before)), Stamp::ending_at(at(stamp)), delta, at(now));
            let (used_after, before_after) = expected;
            assert_eq!(settled, Some(state(used_after, before_after)), "{used} {before} {stamp} {delta}");
            assert_eq!(limit.settle(None, Stamp::ending_at(at(stamp)), delta, at(now)), None);
        }
    }
}

/// Capacity 10, 2 more each 10 ms, last refilled at 100.
#[test]
fn a_bucket_is_corrected_in_what_it_holds() {
    let limit = Limit::bucket(10, 2, width(10));
    let state = |refilled_at: u64, tokens| State::Bucket { refilled_at: at(refilled_at), tokens };
    for (tokens, delta, now, expected) in [
        (4, -3, 105, (100, 7)),
        (4, 3, 105, (100, 1)),
        // What was refilled meanwhile is kept, and the beat too.
        (4, -3, 125, (125, 10)),
        (2, -3, 125, (120, 9)),
        // Up to the capacity, from then on full.
        (4, -6, 105, (105, 10)),
        (4, -60, 105, (105, 10)),
        (4, -5, 105, (100, 9)),
        (4, i64::MIN, 105, (105, 10)),
        // Debt, and back out of it.
        (4, 60, 105, (100, -56)),
        (-56, -60, 105, (100, 4)),
        // Full again: there is no room for a refund, and a charge is owed all the same.
        (4, -3, 130, (100, 4)),
        (4, 0, 130, (100, 4)),
        (4, 3, 130, (130, 7)),
        (4, 30, 999, (999, -20)),
        (10, 3, 100, (100, 7)),
        (10, -3, 100, (100, 10)),
        // A clock behind decides at the newest time seen.
        (4, -3, 95, (100, 7)),
        (4, -60, 95, (100, 10)),
    ] {
        let settled = limit.settle(Some(state(100, tokens)), Stamp::ending_at(at(0)), delta, at(now));
        assert_eq!(settled, Some(state(expected.0, expected.1)), "{tokens} {delta} {now}");
        let owed = (delta > 0).then(|| state(now, 10 - delta));
        assert_eq!(limit.settle(None, Stamp::ending_at(at(0)), delta, at(now)), owed, "a full one");
    }
}

/// Both kinds of window keep the same counters, so a policy may change from one to the other.
#[test]
fn a_fixed_window_becomes_a_sliding_one() {
    let mut key = Held::nothing(Limit::fixed(3, Window::MINUTE));
    key.spend(3, 59_999);
    key.limit = Limit::sliding(3, Window::MINUTE);
    assert!(!key.take(1, 60_000).is_allowed());
}
