//! The sliding window beside an exact log, the admission test as it is written, and the bound that follows from it.

use proptest::prelude::*;
use tollgate_core::{Limit, State, Units};

use crate::{
    fixed::Log,
    support::{Held, Reference, at, history, replay, units, width},
};

struct Sliding {
    quota: u64,
    window: u64,
    log: Log,
}

impl Sliding {
    /// The window that counts, how far into it the instant is, and the counts of it and of the one before.
    fn counts(&self, now: u64) -> (u64, u64, i64, i64) {
        let start = self.log.window_of(now, self.window);
        let before = start.checked_sub(self.window).map_or(0, |before| self.log.spent(before));
        (start, now.saturating_sub(start), self.log.spent(start), before)
    }
}

impl Reference for Sliding {
    fn is_behind(&self, now: u64) -> bool {
        now + self.window < self.log.window_of(0, self.window)
    }

    /// `previous·(W−x) + (current+cost)·W ≤ quota·W`.
    fn fits(&self, cost: u64, now: u64) -> bool {
        let (_, offset, current, before) = self.counts(now);
        let window = i128::from(self.window);
        self.quota > 0
            && i128::from(before) * (window - i128::from(offset))
                + (i128::from(current) + i128::from(cost)) * window
                <= i128::from(self.quota) * window
    }

    fn write(&mut self, cost: u64, now: u64) {
        let (start, ..) = self.counts(now);
        self.log.add(start, cost.cast_signed());
    }

    /// The largest number that `previous·(W−x) + (current+number)·W ≤ quota·W` holds for, found by trying.
    fn left(&self, now: u64) -> i64 {
        let (_, offset, current, before) = self.counts(now);
        let (window, offset) = (self.window.cast_signed(), offset.cast_signed());
        let quota = self.quota.cast_signed();
        (-1_000..=quota)
            .rev()
            .find(|number| before * (window - offset) + (current + number) * window <= quota * window)
            .unwrap_or(i64::MIN)
    }

    fn reset_at(&self, now: u64) -> u64 {
        self.counts(now).0 + self.window
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
        let mut reference = Sliding { quota, window, log: Log::default() };
        replay(Limit::sliding(quota, width(window)), &history, &mut reference)?;
    }

    /// Any interval no longer than a window that ends at offset x admits at most `quota + ⌊P·x/W⌋`.
    #[test]
    fn an_interval_admits_no_more_than_its_bound(
        window in 1u64..=30,
        quota in 1u64..=12,
        takes in prop::collection::vec((prop_oneof![3 => 0u64..=2, 1 => 0u64..=40], 1u64..=12), 1..120),
    ) {
        let mut key = Held::nothing(Limit::sliding(quota, width(window)));
        let mut admitted: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for (later, cost) in takes {
            now += later;
            if !key.take(cost, now).is_allowed() {
                continue;
            }
            admitted.push((now, cost));
            let (start, offset) = (now / window * window, now % window);
            let count = |from: u64, to: u64| -> u64 {
                admitted.iter().filter(|(at, _)| (from..=to).contains(at)).map(|(_, cost)| cost).sum()
            };
            let previous = if start == 0 { 0 } else { count(start - window, start - 1) };
            let bound = quota + previous * offset / window;
            prop_assert!(count(now.saturating_sub(window), now) <= bound);
            prop_assert!(count(start, now) <= quota);
        }
    }

    /// The admission test as it is written, over numbers of every size.
    #[test]
    fn the_admission_test_is_exact(
        window in prop_oneof![1u64..=100, 1u64..=1 << 40, (1u64 << 40) - 100..=1 << 40],
        windows in 0u64..=1 << 12,
        (quota, used, before) in (amount(), amount(), amount()),
        offset in any::<prop::sample::Index>(),
        near in -2i64..=2,
        cost in amount(),
    ) {
        let start = windows * window;
        let offset = offset.index(usize::try_from(window).unwrap()) as u64;
        let limit = Limit::sliding(quota, width(window));
        let state = State::Window {
            start: at(start),
            end: at(start + window),
            used: units(used),
            before: units(before),
        };
        let key = Held { limit, state: Some(state) };
        let ask = |cost: u64| key.peek(cost, start + offset);
        let fits = |cost: u64| {
            let [quota, used, before, cost, window, offset] =
                [quota, used, before, cost, window, offset].map(u128::from);
            quota > 0 && before * (window - offset) + (used + cost) * window <= quota * window
        };
        prop_assert_eq!(ask(cost).is_allowed(), fits(cost));
        // And at the edge, which a cost at random seldom hits.
        let edge = ask(0).remaining().saturating_add_signed(near).min(Units::MAX.get());
        prop_assert_eq!(ask(edge).is_allowed(), fits(edge));
    }
}

/// Small, middling and the largest amounts.
fn amount() -> impl Strategy<Value = u64> {
    let largest = Units::MAX.get();
    prop_oneof![0u64..=100, 0..=largest, largest - 100..=largest]
}

#[test]
fn an_adversary_reaches_the_bound() {
    for quota in [1, 2, 10, 100] {
        let mut key = Held::nothing(Limit::sliding(quota, width(1_000)));
        assert!(key.take(quota, 999).is_allowed());
        let greedy = (1_000..1_999).filter(|&now| key.take(1, now).is_allowed()).count();
        assert_eq!(quota + u64::try_from(greedy).unwrap(), 2 * quota - 1, "{quota}");
    }
}
