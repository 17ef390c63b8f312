//! Which settlements were applied already.

use std::fmt;

use foldhash::fast::RandomState;
use lru::LruCache;
use tollgate_core::Timestamp;
use tollgate_store::SettleId;

/// The ids of applied settlements, the latest of them.
pub(crate) struct Settled {
    /// Each id until when it matters, the oldest at the end: nothing is ever moved to the front.
    ids: LruCache<SettleId, Timestamp, RandomState>,
    most: usize,
    /// How many were forgotten too early, for want of room.
    dropped: u64,
}

impl Settled {
    pub(crate) fn new(most: usize) -> Self {
        // Unbounded, since the bounded one takes the room for all of them at once; most stores settle nothing.
        Self { ids: LruCache::unbounded_with_hasher(RandomState::default()), most, dropped: 0 }
    }

    pub(crate) fn contains(&self, id: SettleId) -> bool {
        self.ids.contains(&id)
    }

    pub(crate) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Remembers an id that was applied, in the place of the oldest if there is no room.
    ///
    /// One that no longer counts by the newest time may count again for a caller whose clock is behind, so none goes before
    /// its room is needed.
    pub(crate) fn remember(&mut self, id: SettleId, until: Timestamp, now: Timestamp) {
        if self.ids.len() >= self.most
            && let Some((_, until)) = self.ids.pop_lru()
            && until > now
        {
            self.dropped += 1;
        }
        self.ids.put(id, until);
    }
}

impl fmt::Debug for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settled").field("ids", &self.ids.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    #[test]
    fn ids_are_remembered_while_they_count_and_there_is_room() {
        let mut settled = Settled::new(3);
        settled.remember(SettleId::new(0), at(5), at(5));
        assert!(settled.contains(SettleId::new(0)), "a clock that is behind may send it again");
        for id in 1..=3 {
            settled.remember(SettleId::new(id), at(10), at(5));
        }
        assert!(!settled.contains(SettleId::new(0)), "the oldest goes");
        assert_eq!(
            (settled.ids.len(), settled.dropped()),
            (3, 0),
            "and is no loss, since it no longer counted"
        );
        settled.remember(SettleId::new(4), at(20), at(9));
        assert!(!settled.contains(SettleId::new(1)));
        assert_eq!((settled.ids.len(), settled.dropped()), (3, 1), "this one is");
        settled.remember(SettleId::new(5), at(20), at(10));
        assert_eq!(settled.dropped(), 1);
    }
}
