//! How the checks of the last five minutes came out, in steps of five seconds.

use std::collections::VecDeque;

use parking_lot::Mutex;
use serde::Serialize;
use tollgate_guard::{Stats, Timestamp};

/// How long a step is.
pub(crate) const STEP_MS: u64 = 5_000;

/// How far back it remembers.
pub(crate) const SPAN_MS: u64 = 5 * 60 * 1_000;

/// The guard's own counts, sorted by when they were made. It has no clock and no task: whoever answers a request tells it.
#[derive(Debug, Default)]
pub(crate) struct Activity(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    stats: Stats,
    steps: VecDeque<Step>,
}

/// How the checks of one step came out; steps without any are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    /// When it begins, in Unix milliseconds.
    at: u64,
    allowed: u64,
    refused: u64,
    let_through: u64,
    stopped: u64,
}

impl Activity {
    /// Takes in what was counted since the last time, as of now. Whether there was anything.
    pub(crate) fn note(&self, stats: impl FnOnce() -> Stats, now: Timestamp) -> bool {
        let mut seen = self.0.lock();
        // Read under the lock, so that counts never seem to go back.
        let stats = stats();
        let before = std::mem::replace(&mut seen.stats, stats);
        if before == stats {
            return false;
        }
        let at = now.unix_ms() - now.unix_ms() % STEP_MS;
        let is_new = seen.steps.back().is_none_or(|last| last.at < at);
        if is_new {
            seen.steps.push_back(Step { at, ..Step::default() });
        }
        if let Some(step) = seen.steps.back_mut() {
            step.allowed += stats.allowed.saturating_sub(before.allowed);
            step.refused += stats.refused.saturating_sub(before.refused);
            step.let_through += stats.let_through.saturating_sub(before.let_through);
            step.stopped += stats.stopped.saturating_sub(before.stopped);
        }
        while seen.steps.front().is_some_and(|first| is_over(first, now)) {
            seen.steps.pop_front();
        }
        true
    }

    /// The steps of the last five minutes in which anything was counted, oldest first.
    #[must_use]
    pub(crate) fn steps(&self, now: Timestamp) -> Vec<Step> {
        self.0.lock().steps.iter().filter(|step| !is_over(step, now)).copied().collect()
    }
}

/// Whether a step lies wholly before what is remembered.
const fn is_over(step: &Step, now: Timestamp) -> bool {
    step.at.saturating_add(STEP_MS).saturating_add(SPAN_MS) <= now.unix_ms()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_guard::{Guard, Limit, ManualClock, OnOutage, Policy, Window};
    use tollgate_memory::MemoryStore;

    const TWO: Policy<0> = Policy::new("two", Limit::fixed(2, Window::DAY), OnOutage::Deny);

    #[tokio::test]
    async fn each_check_is_in_its_step_and_forgotten_after_five_minutes() {
        let clock = ManualClock::at_unix_ms(1_700_000_000_000);
        let guard = Guard::builder(MemoryStore::new()).policy(TWO).clock(clock.clone()).build().unwrap();
        let activity = Activity::default();
        let note = || activity.note(|| guard.stats(), guard.now());
        let figures = || -> Vec<_> {
            let steps = activity.steps(guard.now());
            steps.iter().map(|step| (step.at % 1_000_000, step.allowed, step.refused)).collect()
        };
        assert!(!note() && figures().is_empty());

        for after_ms in [0, 4_999, 1] {
            clock.advance(std::time::Duration::from_millis(after_ms));
            let _ = guard.check(&[TWO.charge(())]).await;
            assert!(note());
            assert!(!note(), "nothing new");
        }
        assert_eq!(figures(), [(0, 2, 0), (5_000, 0, 1)]);
        clock.advance(std::time::Duration::from_millis(SPAN_MS - 1));
        assert_eq!(figures(), [(0, 2, 0), (5_000, 0, 1)]);
        clock.advance(std::time::Duration::from_millis(1));
        assert_eq!(figures(), [(5_000, 0, 1)]);
        let _ = guard.check(&[TWO.charge(())]).await;
        note();
        assert_eq!(activity.0.lock().steps.len(), 2, "what is over is let go");
    }
}
