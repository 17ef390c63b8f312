//! Calls that are a request each: how many of them at once.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::Instant,
};

use crate::{failure::Failure, round_trips::RoundTrips};

/// Requests in flight at once, each on a connection of its own: as many as the usual backlog of a listener holds. Beyond that a
/// service lets attempts to connect drop, and they are made again after one second, two, four and so on.
const MOST: usize = 128;

/// Turns for requests of one call each.
#[derive(Debug)]
pub(crate) struct Singles {
    turns: Semaphore,
    round_trips: Mutex<RoundTrips>,
}

impl Singles {
    pub(crate) fn new() -> Self {
        Self { turns: Semaphore::new(MOST), round_trips: Mutex::default() }
    }

    /// Waits for a turn, which lasts until it is dropped. There is none for a call that cannot be answered by `until` any
    /// more, by the rule of the [queue](crate::queue): it was waiting for too long.
    pub(crate) async fn turn(&self, until: Instant) -> Result<SemaphorePermit<'_>, Failure> {
        let turn = self.turns.acquire().await.map_err(|_| Failure::Abandoned)?;
        let others = MOST - 1 - self.turns.available_permits().min(MOST - 1);
        if others > 0 && until < Instant::now() + self.round_trips.lock().fastest() {
            return Err(Failure::Unsent);
        }
        Ok(turn)
    }

    /// An answer has come after this time.
    pub(crate) fn answered(&self, took: Duration) {
        self.round_trips.lock().note(took);
    }
}
