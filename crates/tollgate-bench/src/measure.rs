//! How it is measured: rounds that take turns, and the median of each figure.

use std::{hint::black_box, time::Instant};

use crate::{contender::Check, scenario::Scenario};

/// How many rounds each contender gets. They take turns within a round, so that a slow minute of the machine meets all alike.
pub const ROUNDS: usize = 5;

/// How many checks a round has.
const CHECKS: usize = 1_000_000;

/// Nanoseconds a check, in each round, for each contender.
#[must_use]
pub fn interleaved(scenario: &Scenario, checks: &mut [Check]) -> Vec<[f64; ROUNDS]> {
    let mut figures = vec![[0.0; ROUNDS]; checks.len()];
    for round in 0..ROUNDS {
        for (check, figures) in checks.iter_mut().zip(&mut figures) {
            figures[round] = one_round(scenario, check);
        }
    }
    figures
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this crate is for")]
#[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
fn one_round(scenario: &Scenario, check: &mut Check) -> f64 {
    let mut at = 0;
    let begun = Instant::now();
    for _ in 0..CHECKS {
        black_box(check(black_box(at)));
        at += 1;
        if at == scenario.keys {
            at = 0;
        }
    }
    begun.elapsed().as_nanos() as f64 / CHECKS as f64
}

/// The middle one of the figures.
#[must_use]
pub fn median(mut figures: [f64; ROUNDS]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[ROUNDS / 2]
}

/// The middle one of the ratios, round by round.
#[must_use]
pub fn median_ratio(ours: &[f64; ROUNDS], peer: &[f64; ROUNDS]) -> f64 {
    let mut ratios = *ours;
    for (ratio, peer) in ratios.iter_mut().zip(peer) {
        *ratio /= peer;
    }
    median(ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_round_by_round() {
        let (ours, peer) = ([1.0, 2.0, 30.0, 4.0, 5.0], [2.0, 4.0, 10.0, 8.0, 10.0]);
        assert!((median(ours) - 4.0).abs() < f64::EPSILON);
        assert!((median_ratio(&ours, &peer) - 0.5).abs() < f64::EPSILON);
    }
}
