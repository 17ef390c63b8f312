//! The fixed window beside an exact log of what was charged.

use proptest::prelude::*;
use tollgate_core::Limit;

use crate::support::{Held, Reference, history, replay, width};

/// Every charge and correction, each with the start of its window.
#[derive(Default)]
pub(crate) struct Log(Vec<(u64, i64)>);

impl Log {
    pub(crate) fn spent(&self, start: u64) -> i64 {
        self.0.iter().filter(|(of, _)| *of == start).map(|(_, units)| units).sum()
    }

    pub(crate) fn add(&mut self, start: u64, units: i64) {
        self.0.push((start, units));
    }

    /// What is gone to 0 counts as missing, and nothing goes below it.
    pub(crate) fn correct(&mut self, start: u64, delta: i64) {
        let spent = self.spent(start);
        if spent > 0 {
            self.add(start, delta.max(-spent));
        }
    }

    /// The window an instant is counted in: its own, or the newest in which something was counted.
    pub(crate) fn window_of(&self, now: u64, window: u64) -> u64 {
        self.0.iter().map(|(start, _)| *start).fold(now / window * window, u64::max)
    }
}

struct Fixed {
    quota: u64,
    window: u64,
    log: Log,
}

impl Reference for Fixed {
    fn is_behind(&self, now: u64) -> bool {
        now + self.window < self.log.window_of(0, self.window)
    }

    fn fits(&self, cost: u64, now: u64) -> bool {
        self.quota > 0 && cost.cast_signed() <= self.left(now)
    }

    fn write(&mut self, cost: u64, now: u64) {
        let start = self.log.window_of(now, self.window);
        self.log.add(start, cost.cast_signed());
    }

    fn left(&self, now: u64) -> i64 {
        self.quota.cast_signed() - self.log.spent(self.log.window_of(now, self.window))
    }

    fn reset_at(&self, now: u64) -> u64 {
        self.log.window_of(now, self.window) + self.window
    }

    fn settle(&mut self, window_end: u64, delta: i64, _now: u64) {
        self.log.correct(window_end - self.window, delta);
    }
}

proptest! {
    #[test]
    fn answers_are_those_of_the_log(
        (window, quota, history) in (1u64..=12).prop_flat_map(|window| {
            (Just(window), 0u64..=6, history(window.cast_signed(), 8))
        })
    ) {
        let mut reference = Fixed { quota, window, log: Log::default() };
        replay(Limit::fixed(quota, width(window)), &history, &mut reference)?;
    }

    #[test]
    fn no_aligned_window_admits_more_than_the_quota(
        window in 1u64..=12,
        quota in 0u64..=6,
        takes in prop::collection::vec((-3i64..=6, 0u64..=7), 1..60),
    ) {
        let mut key = Held::nothing(Limit::fixed(quota, width(window)));
        let mut admitted = Log::default();
        let mut now = 1_000u64;
        for (later, cost) in takes {
            now = now.saturating_add_signed(later);
            let decision = key.take(cost, now);
            if decision.is_allowed() {
                admitted.add(decision.reset_at().unix_ms() - window, cost.cast_signed());
            }
            prop_assert!(admitted.spent(now / window * window) <= quota.cast_signed());
        }
    }
}

#[test]
fn refused_requests_that_count_do_not_starve_the_next_window() {
    let mut key = Held::nothing(Limit::fixed(2, width(10)));
    for now in 0..10 {
        key.spend(1, now);
    }
    assert_eq!(key.peek(1, 9).left(), -8);
    assert_eq!(key.peek(1, 10).left(), 2);
}
