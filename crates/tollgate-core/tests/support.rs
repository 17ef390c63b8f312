//! What several files share: short names, one key charged step by step, and histories replayed beside a reference.

use proptest::prelude::*;
use tollgate_core::{Asked, Charging, Decision, Limit, Stamp, State, Step, Timestamp, Units, Window, decide};

pub(crate) fn at(ms: u64) -> Timestamp {
    Timestamp::from_unix_ms(ms)
}

pub(crate) fn units(number: u64) -> Units {
    Units::new(number)
}

pub(crate) fn width(ms: u64) -> Window {
    Window::from_ms(ms)
}

pub(crate) const CHARGINGS: [Charging; 3] = [Charging::IfAllowed, Charging::Always, Charging::Never];

/// What one limit holds for one key.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) limit: Limit,
    pub(crate) state: Option<State>,
}

impl Held {
    pub(crate) fn nothing(limit: Limit) -> Self {
        Self { limit, state: None }
    }

    pub(crate) fn charge(&mut self, cost: u64, now: u64, charging: Charging) -> Decision {
        let step = self.limit.step(self.state, units(cost), at(now), charging, true);
        self.state = step.state;
        step.decision
    }

    pub(crate) fn take(&mut self, cost: u64, now: u64) -> Decision {
        self.charge(cost, now, Charging::IfAllowed)
    }

    /// Charges in any case, for those who do not ask how it went.
    pub(crate) fn spend(&mut self, cost: u64, now: u64) {
        self.state = self.limit.step(self.state, units(cost), at(now), Charging::Always, true).state;
    }

    pub(crate) fn peek(&self, cost: u64, now: u64) -> Decision {
        self.limit.step(self.state, units(cost), at(now), Charging::Never, true).decision
    }

    pub(crate) fn settle(&mut self, stamp: Stamp, delta: i64, now: u64) {
        self.state = self.limit.settle(self.state, stamp, delta, at(now));
    }
}

/// One thing that happens to a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Take {
        cost: u64,
        charging: Charging,
        enforce: bool,
        beside: Beside,
    },
    /// Corrects one of the takes before: the last, the one before it, and so on.
    Settle {
        back: usize,
        delta: i64,
    },
}

/// What is charged in the same take, to a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Nothing,
    Open,
    Closed,
}

/// Events, each so many milliseconds after the one before; clocks also step back.
pub(crate) fn history(span: i64, dearest: u64) -> impl Strategy<Value = Vec<(i64, Event)>> {
    let charging = prop::sample::select(&CHARGINGS[..]);
    let beside = prop::sample::select(&[Beside::Nothing, Beside::Open, Beside::Closed][..]);
    let largest = dearest.cast_signed();
    let event = prop_oneof![
        4 => (0..=dearest, charging, prop::bool::weighted(0.7), beside)
            .prop_map(|(cost, charging, enforce, beside)| Event::Take { cost, charging, enforce, beside }),
        1 => (0usize..4, -largest..=largest).prop_map(|(back, delta)| Event::Settle { back, delta }),
    ];
    let later = prop_oneof![3 => 0..=2i64, 2 => 0..=2 * span, 1 => -span - 1..=0];
    prop::collection::vec((later, event), 1..40)
}

/// One limit on one key, restated as plainly as possible.
pub(crate) trait Reference {
    /// Whether `now` is too far back to be counted.
    fn is_behind(&self, now: u64) -> bool;
    fn fits(&self, cost: u64, now: u64) -> bool;
    fn write(&mut self, cost: u64, now: u64);
    fn left(&self, now: u64) -> i64;
    fn reset_at(&self, now: u64) -> u64;
    fn settle(&mut self, window_end: u64, delta: i64, now: u64);
}

/// Replays a history through [`decide`] and [`Limit::settle`], and demands the answers of the reference.
pub(crate) fn replay(
    limit: Limit,
    history: &[(i64, Event)],
    reference: &mut dyn Reference,
) -> Result<(), TestCaseError> {
    let mut state = None;
    let mut stamps: Vec<Stamp> = Vec::new();
    // Far enough from the epoch for every step back.
    let mut now = 1_000u64;
    for &(later, event) in history {
        now = now.saturating_add_signed(later);
        match event {
            Event::Settle { back, delta } => {
                let Some(stamp) = stamps.iter().rev().nth(back) else { continue };
                state = limit.settle(state, *stamp, delta, at(now));
                reference.settle(stamp.window_end().unix_ms(), delta, now);
            }
            Event::Take { cost, charging, enforce, beside } => {
                let mut asked = vec![Asked { limit, cost: units(cost), charging, enforce, found: state }];
                if beside != Beside::Nothing {
                    let quota = if beside == Beside::Open { 10 } else { 0 };
                    asked.push(Asked {
                        limit: Limit::fixed(quota, Window::MINUTE),
                        cost: Units::ONE,
                        charging: Charging::IfAllowed,
                        enforce: true,
                        found: None,
                    });
                }
                let mut steps: Vec<Step> = Vec::new();
                let answer = decide(&asked, at(now), |step| steps.push(step));
                if reference.is_behind(now) {
                    prop_assert!(answer.is_err());
                    prop_assert!(steps.is_empty());
                    continue;
                }
                let fits = reference.fits(cost, now);
                let admitted = (fits || !enforce) && beside != Beside::Closed;
                let writes = match charging {
                    Charging::IfAllowed => fits && admitted,
                    Charging::Always => true,
                    Charging::Never => false,
                };
                if writes && cost > 0 {
                    reference.write(cost, now);
                } else {
                    prop_assert_eq!(steps[0].state, state);
                }
                prop_assert_eq!(answer, Ok(admitted));
                prop_assert_eq!(steps.len(), asked.len());
                let decision = steps[0].decision;
                prop_assert_eq!(decision.is_allowed(), fits);
                prop_assert_eq!(decision.left(), reference.left(now));
                prop_assert_eq!(decision.reset_at(), at(reference.reset_at(now)));
                let can_ever_fit = limit.quota() > Units::ZERO && units(cost) <= limit.quota();
                let retry_at = (!fits && can_ever_fit)
                    .then(|| (now..now + 10_000).find(|&later| reference.fits(cost, later)).map(at))
                    .flatten();
                prop_assert_eq!(decision.retry_at(), retry_at);
                stamps.push(decision.stamp());
                state = steps[0].state;
            }
        }
    }
    Ok(())
}
