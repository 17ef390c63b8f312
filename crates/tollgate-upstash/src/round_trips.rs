//! How long the last answers took.

use std::time::Duration;

/// How many answers are remembered.
const LAST: usize = 8;

/// What the last answers took, from sending to the whole answer.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    took: [Duration; LAST],
    next: usize,
}

impl RoundTrips {
    /// An answer has come after this time.
    pub(crate) fn note(&mut self, took: Duration) {
        self.took[self.next] = took;
        self.next = (self.next + 1) % LAST;
    }

    /// What an answer takes at least, or no time while too few have come to say so.
    pub(crate) fn fastest(&self) -> Duration {
        self.took.into_iter().min().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_with_all_of_the_last_answers_and_falls_with_one() {
        let ms = Duration::from_millis;
        let mut trips = RoundTrips::default();
        for count in 1..=16 {
            trips.note(ms(if count <= 8 { 700 } else { 800 }));
            let expected = if count < 8 { 0 } else { ms(if count < 16 { 700 } else { 800 }).as_millis() };
            assert_eq!(trips.fastest().as_millis(), expected, "after {count}");
        }
        trips.note(ms(3));
        assert_eq!(trips.fastest(), ms(3));
    }
}
