//! The token bucket beside one that is refilled instant by instant.

use proptest::prelude::*;
use tollgate_core::Limit;

use crate::support::{Held, Reference, history, replay, width};

/// What a bucket holds, and the instant of its last refill.
#[derive(Clone, Copy)]
struct Contents {
    tokens: i64,
    refilled_at: u64,
}

struct Refilled {
    capacity: i64,
    refill: i64,
    interval: u64,
    held: Option<Contents>,
}

impl Refilled {
    /// Adds one refill after another. A full bucket waits: its next interval begins when it is drawn from.
    fn contents(&self, now: u64) -> Contents {
        let Some(mut contents) = self.held else {
            return Contents { tokens: self.capacity, refilled_at: now };
        };
        while contents.tokens < self.capacity && contents.refilled_at + self.interval <= now {
            contents.refilled_at += self.interval;
            contents.tokens += self.refill;
        }
        if contents.tokens >= self.capacity {
            contents = Contents { tokens: self.capacity, refilled_at: now.max(contents.refilled_at) };
        }
        contents
    }
}

impl Reference for Refilled {
    fn is_behind(&self, _now: u64) -> bool {
        false
    }

    fn fits(&self, cost: u64, now: u64) -> bool {
        self.capacity > 0 && cost.cast_signed() <= self.contents(now).tokens
    }

    fn write(&mut self, cost: u64, now: u64) {
        let mut contents = self.contents(now);
        contents.tokens -= cost.cast_signed();
        self.held = Some(contents);
    }

    fn left(&self, now: u64) -> i64 {
        self.contents(now).tokens
    }

    fn reset_at(&self, now: u64) -> u64 {
        self.contents(now).refilled_at + self.interval
    }

    /// A bucket that has become full has no room for a refund; what was used beyond is taken out of it.
    fn settle(&mut self, _window_end: u64, delta: i64, now: u64) {
        let mut contents = self.contents(now);
        let is_full =
            self.held.is_none_or(|held| held.refilled_at <= now) && contents.tokens == self.capacity;
        if is_full && delta <= 0 {
            return;
        }
        contents.tokens -= delta;
        self.held = Some(contents);
        self.held = Some(self.contents(now));
    }
}

proptest! {
    #[test]
    fn answers_are_those_of_the_refills(
        (interval, capacity, refill, history) in (1u64..=12).prop_flat_map(|interval| {
            (Just(interval), 0u64..=6, 1u64..=7, history(interval.cast_signed(), 8))
        })
    ) {
        let mut reference = Refilled {
            capacity: capacity.cast_signed(),
            refill: refill.cast_signed(),
            interval,
            held: None,
        };
        replay(Limit::bucket(capacity, refill, width(interval)), &history, &mut reference)?;
    }

    /// In any interval: the capacity, and every refill that can fall into it.
    #[test]
    fn an_interval_admits_the_capacity_and_its_refills(
        (interval, capacity, refill) in (1u64..=12, 1u64..=12, 1u64..=12),
        takes in prop::collection::vec((0u64..=6, 1u64..=12), 1..80),
    ) {
        let mut key = Held::nothing(Limit::bucket(capacity, refill, width(interval)));
        let mut admitted: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for (later, cost) in takes {
            now += later;
            if !key.take(cost, now).is_allowed() {
                continue;
            }
            admitted.push((now, cost));
            for &(from, _) in &admitted {
                let sum: u64 = admitted.iter().filter(|(at, _)| *at >= from).map(|(_, cost)| cost).sum();
                prop_assert!(sum <= capacity + refill * (now - from).div_ceil(interval));
            }
        }
    }
}
