//! Several charges, all or nothing, beside two plain passes; and clocks that lie too far back.

use proptest::prelude::*;
use tollgate_core::{Asked, Charging, ClockBehind, Limit, State, Step, Timestamp, Units, Window, decide};

use crate::support::{CHARGINGS, Held, at, units, width};

fn asked() -> impl Strategy<Value = Asked> {
    let limit = (0u64..=6, 1u64..=3, prop::sample::select(&[5u64, 10][..])).prop_flat_map(
        |(quota, refill, window)| {
            let window = width(window);
            prop_oneof![
                Just(Limit::fixed(quota, window)),
                Just(Limit::sliding(quota, window)),
                Just(Limit::bucket(quota, refill, window)),
            ]
        },
    );
    let found = (any::<bool>(), 0u64..=5, 0u64..=5, 18u64..=32);
    (limit, 0u64..=4, prop::sample::select(&CHARGINGS[..]), prop::bool::weighted(0.7), found).prop_map(
        |(limit, cost, charging, enforce, (holds, first, second, since))| {
            let state = match limit {
                Limit::TokenBucket { .. } => State::Bucket {
                    refilled_at: at(since),
                    tokens: first.cast_signed() - second.cast_signed(),
                },
                Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => {
                    let start = at(since / window.ms() * window.ms());
                    let end = start.saturating_add_ms(window.ms());
                    State::Window { start, end, used: units(first), before: units(second) }
                }
            };
            Asked { limit, cost: units(cost), charging, enforce, found: holds.then_some(state) }
        },
    )
}

/// The answer to one charge alone, written or not.
fn alone(charge: &Asked, now: Timestamp, charging: Charging) -> Step {
    charge.limit.step(charge.found, charge.cost, now, charging, true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_take_is_all_or_nothing(
        asked in prop::collection::vec(asked(), 0..=5),
        now in 14u64..=40,
    ) {
        let now = at(now);
        let mut steps = Vec::new();
        let answer = decide(&asked, now, |step| steps.push(step));

        let behind = asked.iter().any(|charge| match charge.found {
            Some(State::Window { start, .. }) => now.saturating_add_ms(charge.limit.period().ms()) < start,
            _ => false,
        });
        if behind {
            prop_assert!(answer.is_err());
            prop_assert!(steps.is_empty());
            return Ok(());
        }

        // First pass: who votes, and how. Second pass: what is written.
        let admitted = asked
            .iter()
            .filter(|charge| charge.enforce)
            .all(|charge| alone(charge, now, Charging::Never).decision.is_allowed());
        prop_assert_eq!(answer, Ok(admitted));
        prop_assert_eq!(steps.len(), asked.len());
        for (charge, step) in asked.iter().zip(steps) {
            let fits = alone(charge, now, Charging::Never).decision.is_allowed();
            let written = match charge.charging {
                Charging::IfAllowed => admitted && fits,
                Charging::Always => true,
                Charging::Never => false,
            };
            let expected = alone(charge, now, if written { Charging::Always } else { Charging::Never });
            prop_assert_eq!(step, expected);
        }
    }
}

const OPEN: Limit = Limit::fixed(5, Window::MINUTE);
const CLOSED: Limit = Limit::fixed(0, Window::MINUTE);

fn charge(limit: Limit, charging: Charging, enforce: bool) -> Asked {
    Asked { limit, cost: Units::ONE, charging, enforce, found: None }
}

/// Whether the take is admitted, and which of its charges are written.
fn outcome(asked: &[Asked]) -> (Result<bool, ClockBehind>, Vec<bool>) {
    let mut written = Vec::new();
    let admitted = decide(asked, at(1), |step| written.push(step.state.is_some()));
    (admitted, written)
}

#[test]
fn who_votes_and_what_is_written() {
    use Charging::{Always, IfAllowed, Never};
    for (asked, admitted, written) in [
        (&[][..], true, &[][..]),
        (&[(OPEN, IfAllowed, true)], true, &[true]),
        (&[(CLOSED, IfAllowed, true)], false, &[false]),
        (&[(OPEN, IfAllowed, true), (OPEN, IfAllowed, true)], true, &[true, true]),
        // One refusal, and nobody is charged, whichever way round.
        (&[(OPEN, IfAllowed, true), (CLOSED, IfAllowed, true)], false, &[false, false]),
        (&[(CLOSED, IfAllowed, true), (OPEN, IfAllowed, true)], false, &[false, false]),
        // A shadow refuses nothing, and is written only where it fits and the take is admitted.
        (&[(CLOSED, IfAllowed, false)], true, &[false]),
        (&[(OPEN, IfAllowed, false)], true, &[true]),
        (&[(OPEN, IfAllowed, true), (CLOSED, IfAllowed, false)], true, &[true, false]),
        (&[(OPEN, IfAllowed, true), (OPEN, IfAllowed, false)], true, &[true, true]),
        (&[(CLOSED, IfAllowed, true), (OPEN, IfAllowed, false)], false, &[false, false]),
        // Always is written whatever comes out, and still refuses.
        (&[(CLOSED, Always, true)], false, &[true]),
        (&[(CLOSED, Always, true), (OPEN, IfAllowed, true)], false, &[true, false]),
        (&[(CLOSED, IfAllowed, true), (OPEN, Always, true)], false, &[false, true]),
        (&[(CLOSED, Always, false), (OPEN, IfAllowed, true)], true, &[true, true]),
        // A peek votes where it is enforced, and is never written.
        (&[(CLOSED, Never, true), (OPEN, IfAllowed, true)], false, &[false, false]),
        (&[(CLOSED, Never, false), (OPEN, IfAllowed, true)], true, &[false, true]),
        (&[(OPEN, Never, true), (OPEN, IfAllowed, true)], true, &[false, true]),
        (&[(CLOSED, Never, true)], false, &[false]),
    ] {
        let asked: Vec<Asked> =
            asked.iter().map(|&(limit, charging, enforce)| charge(limit, charging, enforce)).collect();
        assert_eq!(outcome(&asked), (Ok(admitted), written.to_vec()), "{asked:?}");
    }
}

#[test]
fn a_clock_may_lie_one_window_behind_and_no_more() {
    for limit in [Limit::fixed(5, width(10)), Limit::sliding(5, width(10))] {
        let mut key = Held::nothing(limit);
        key.spend(1, 57);
        let far = Asked { found: key.state, ..charge(limit, Charging::IfAllowed, true) };
        let near = charge(OPEN, Charging::Always, true);
        for asked in [vec![far], vec![far, near], vec![near, far]] {
            for now in [39, 1, 0] {
                let mut calls = 0;
                let behind = decide(&asked, at(now), |_| calls += 1).unwrap_err();
                assert_eq!((calls, behind.by().as_millis()), (0, u128::from(50 - now)), "{limit} {now}");
                assert!(behind.to_string().contains(&format!("{} ms behind", 50 - now)), "{behind}");
            }
            for now in [40, 49, 50, 57, 60, u64::MAX] {
                let mut calls = 0;
                assert_eq!(decide(&asked, at(now), |_| calls += 1), Ok(true), "{limit} {now}");
                assert_eq!(calls, asked.len());
            }
        }
        // One window behind is decided at the start of the stored window, in its count.
        let step = limit.step(key.state, Units::ONE, at(40), Charging::IfAllowed, true);
        assert_eq!((step.decision.used(), step.decision.reset_at()), (units(2), at(60)));
    }
    // In the first window there is nothing further back, and buckets have no such bound.
    for limit in [Limit::fixed(5, width(10)), Limit::bucket(5, 1, width(10))] {
        for written_at in [15, if matches!(limit, Limit::TokenBucket { .. }) { 1 << 50 } else { 15 }] {
            let mut key = Held::nothing(limit);
            key.spend(1, written_at);
            let asked = [Asked { found: key.state, ..charge(limit, Charging::IfAllowed, true) }];
            assert_eq!(decide(&asked, at(0), |_| ()), Ok(true), "{limit}");
        }
    }
}
