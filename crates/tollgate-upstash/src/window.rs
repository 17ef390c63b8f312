//! How many commands may be in flight.

use tokio::time::Instant;

/// As many as fit into all requests: no bound of its own.
const MOST: usize = 16_000;

/// What to begin with, before anything is known of the service: two full requests. What is sent too much at once is work that
/// nobody waits for, and the service does it before everything else.
const FIRST: usize = 2_000;

/// So few are always allowed: one for each request that may be in flight.
const LEAST: usize = 16;

/// How an answer came, for most of those who waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Within half of the time that they had when it was sent.
    Brisk,
    /// In time.
    Slow,
    /// When they had given up.
    Late,
}

/// How many commands may be in flight, found as TCP finds how much it may send (RFC 5681): halved when they come too late, and
/// then raised bit by bit while they do not.
///
/// The bound rises by an eighth with each round trip while there is time to spare, and by single commands where there is little,
/// since what lies ahead there is the next late answer. A late one beside which hardly any were in flight changes nothing. A service
/// that is merely far away loses nothing by that: without a late answer nothing is halved, however slowly they come.
#[derive(Debug)]
pub(crate) struct Window {
    commands: usize,
    /// When it was halved last. What was sent before says nothing about what came of that.
    halved_at: Option<Instant>,
}

impl Default for Window {
    fn default() -> Self {
        Self { commands: FIRST, halved_at: None }
    }
}

impl Window {
    pub(crate) const fn commands(&self) -> usize {
        self.commands
    }

    /// A request of so many commands has ended so, while `in_flight` were, its own among them.
    pub(crate) fn note(
        &mut self,
        pace: Pace,
        sent_at: Instant,
        now: Instant,
        commands: usize,
        in_flight: usize,
    ) {
        let more = match pace {
            Pace::Late if self.halved_at.is_some_and(|at| sent_at < at) => 0,
            // It is not because of too many.
            Pace::Late if in_flight <= LEAST => 0,
            Pace::Late => {
                self.commands = (self.commands.min(in_flight) / 2).max(LEAST);
                self.halved_at = Some(now);
                0
            }
            Pace::Slow => 1,
            Pace::Brisk => (commands / 8).max(1),
        };
        self.commands = self.commands.saturating_add(more).min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_is_halved_once_for_all_that_was_sent_together() {
        let (mut window, start) = (Window::default(), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        window.note(Pace::Brisk, after(0), after(1), 100, 100);
        assert_eq!(window.commands(), FIRST + 12);
        for (sent_at, expected) in [(0, 750), (1, 750), (1_000, 375), (2_000, 187)] {
            let in_flight = window.commands().min(1_500);
            window.note(Pace::Late, after(sent_at), after(sent_at + 900), 100, in_flight);
            assert_eq!(window.commands(), expected, "sent at {sent_at}");
        }
        for (pace, commands, expected) in
            [(Pace::Slow, 80, 188), (Pace::Brisk, 80, 198), (Pace::Brisk, 1, 199), (Pace::Brisk, 1_000, 324)]
        {
            window.note(pace, after(3_000), after(3_001), commands, commands);
            assert_eq!(window.commands(), expected);
        }
        window.note(Pace::Late, after(4_000), after(4_900), LEAST, LEAST);
        assert_eq!(window.commands(), 324, "so few are not too many");
        for round in 5..20 {
            window.note(Pace::Late, after(round * 1_000), after(round * 1_000 + 900), 1, LEAST + 1);
        }
        assert_eq!(window.commands(), LEAST);
        for _ in 0..2_000 {
            window.note(Pace::Brisk, after(30_000), after(30_001), 1_000, 1_000);
        }
        assert_eq!(window.commands(), MOST);
    }
}
