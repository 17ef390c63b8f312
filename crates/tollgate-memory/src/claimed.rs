//! Who works on what, and what is done.

use std::fmt;

use foldhash::fast::RandomState;
use lru::LruCache;
use tollgate_core::Timestamp;
use tollgate_store::{Claim, ClaimToken, Claimed, Confirm, Hold, Release, StoreError, StoreErrorKind};

/// Claims, at most so many, running and done ones apart: a running one never has to go for want of room.
pub(crate) struct Table {
    running: LruCache<Box<[u8]>, Held, RandomState>,
    /// The oldest at the end: nothing is ever moved to the front.
    done: LruCache<Box<[u8]>, Held, RandomState>,
    most: usize,
    /// How many done ones were forgotten too early.
    dropped: u64,
}

#[derive(Clone, Copy)]
struct Held {
    token: ClaimToken,
    until: Timestamp,
}

impl Table {
    pub(crate) fn new(most: usize) -> Self {
        // Unbounded, since bounded ones take the room at once; most stores hold no claim.
        let empty = || LruCache::unbounded_with_hasher(RandomState::default());
        Self { running: empty(), done: empty(), most, dropped: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len() + self.done.len()
    }

    pub(crate) const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn claim(&mut self, claim: &Claim<'_>) -> Result<Claimed, StoreError> {
        let (key, now) = (claim.key.to_bytes(), claim.started_at());
        if self.done.peek(&key).is_some_and(|held| held.until > now) {
            return Ok(Claimed::Done);
        }
        if let Some(&Held { token, until }) = self.running.peek(&key).filter(|held| held.until > now) {
            let is_ours = token == claim.token;
            return Ok(if is_ours { Claimed::Ours { until } } else { Claimed::Running { until } });
        }
        self.done.pop(&key);
        self.running.pop(&key);
        self.make_room(now)?;
        let until = claim.until();
        self.running.put(key, Held { token: claim.token, until });
        Ok(Claimed::Ours { until })
    }

    pub(crate) fn renew(&mut self, claim: &Claim<'_>) -> Hold {
        match self.ours(&claim.key.to_bytes(), claim.token, claim.started_at()) {
            Some(held) => {
                held.until = claim.until();
                Hold::Ours
            }
            None => Hold::Lost,
        }
    }

    pub(crate) fn confirm(&mut self, confirm: &Confirm<'_>) -> Hold {
        let (key, now) = (confirm.key.to_bytes(), confirm.started_at());
        if self.ours(&key, confirm.token, now).is_some() {
            self.running.pop(&key);
            self.done.put(key, Held { token: confirm.token, until: confirm.until() });
            return Hold::Ours;
        }
        let is_ours = |held: &Held| held.token == confirm.token && held.until > now;
        if self.done.peek(&key).is_some_and(is_ours) { Hold::Ours } else { Hold::Lost }
    }

    pub(crate) fn release(&mut self, release: &Release<'_>) {
        let key = release.key.to_bytes();
        if self.running.peek(&key).is_some_and(|held| held.token == release.token) {
            self.running.pop(&key);
        }
    }

    fn ours(&mut self, key: &[u8], token: ClaimToken, now: Timestamp) -> Option<&mut Held> {
        self.running.peek_mut(key).filter(|held| held.token == token && held.until > now)
    }

    /// Sees to it that one more fits: in the place of the oldest, if that has ended, or of the one that was confirmed first.
    fn make_room(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.len() < self.most {
            return Ok(());
        }
        if self.running.peek_lru().is_some_and(|(_, oldest)| oldest.until <= now) {
            self.running.pop_lru();
            return Ok(());
        }
        if let Some((_, first)) = self.done.pop_lru() {
            self.dropped += u64::from(first.until > now);
            return Ok(());
        }
        // Nothing but running ones: workers that ended without a word must not shut out all others.
        let ended: Vec<_> =
            self.running.iter().filter(|(_, held)| held.until <= now).map(|(key, _)| key.clone()).collect();
        for key in ended {
            self.running.pop(&key);
        }
        if self.len() < self.most { Ok(()) } else { Err(full()) }
    }
}

#[cold]
fn full() -> StoreError {
    StoreError::new(
        StoreErrorKind::Busy,
        "as many claims are running as the store has room for: use a larger capacity, or shorter leases",
    )
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("running", &self.running.len())
            .field("done", &self.done.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tollgate_core::Window;
    use tollgate_store::ClaimKey;

    use super::*;

    fn claim<'a>(key: &'a str, token: u128, now: u64) -> Claim<'a> {
        let (key, token) = (ClaimKey::Literal(key), ClaimToken::new(token));
        Claim { key, token, lease: Window::MINUTE, now: Timestamp::from_unix_ms(now) }
    }

    fn confirm<'a>(key: &'a str, token: u128, now: u64) -> Confirm<'a> {
        let Claim { key, token, now, .. } = claim(key, token, now);
        Confirm { key, token, retention: Window::DAY, now }
    }

    #[test]
    fn what_is_done_goes_before_what_runs() {
        let mut table = Table::new(3);
        for (at, key) in ["a", "b", "c"].into_iter().enumerate() {
            assert!(matches!(table.claim(&claim(key, at as u128, 0)), Ok(Claimed::Ours { .. })));
        }
        assert_eq!(table.claim(&claim("d", 9, 0)).unwrap_err().kind(), StoreErrorKind::Busy);
        assert_eq!(table.confirm(&confirm("b", 1, 0)), Hold::Ours);
        assert!(matches!(table.claim(&claim("d", 9, 0)), Ok(Claimed::Ours { .. })), "in the place of b");
        assert_eq!((table.len(), table.dropped()), (3, 1));
        assert!(matches!(table.claim(&claim("a", 9, 0)), Ok(Claimed::Running { .. })), "a runs on");
    }

    #[test]
    fn workers_that_ended_without_a_word_make_room() {
        let mut table = Table::new(2);
        for key in ["a", "b"] {
            let _ = table.claim(&claim(key, 1, 0)).unwrap();
        }
        assert!(table.claim(&claim("c", 2, 59_999)).is_err());
        assert!(matches!(table.claim(&claim("c", 2, 60_000)), Ok(Claimed::Ours { .. })));
        assert_eq!((table.len(), table.dropped()), (2, 0));
    }
}
