//! Who works on what, and what is done.

use std::{collections::BTreeSet, fmt, sync::Arc};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use tollgate_core::Timestamp;
use tollgate_store::{Claim, ClaimToken, Claimed, Confirm, Hold, Release, StoreError, StoreErrorKind};

/// Claims, at most so many, running and done ones apart: a running one never has to go for want of room.
pub(crate) struct Table {
    running: Class,
    done: Class,
    most: usize,
    /// How many done ones were forgotten too early.
    dropped: u64,
}

/// Claims by their keys and by when they end, so that the first to end is found without a look at the others.
#[derive(Default)]
struct Class {
    held: HashMap<Arc<[u8]>, Held, RandomState>,
    ends: BTreeSet<(Timestamp, Arc<[u8]>)>,
}

#[derive(Clone, Copy)]
struct Held {
    token: ClaimToken,
    until: Timestamp,
}

impl Table {
    pub(crate) fn new(most: usize) -> Self {
        Self { running: Class::default(), done: Class::default(), most, dropped: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len() + self.done.len()
    }

    pub(crate) const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn claim(&mut self, claim: &Claim<'_>) -> Result<Claimed, StoreError> {
        let (key, now) = (claim.key.to_bytes(), claim.started_at());
        if self.done.get(&key).is_some_and(|held| held.until > now) {
            return Ok(Claimed::Done);
        }
        if let Some(Held { token, until }) = self.running.get(&key).filter(|held| held.until > now) {
            let is_ours = token == claim.token;
            return Ok(if is_ours { Claimed::Ours { until } } else { Claimed::Running { until } });
        }
        self.done.remove(&key);
        self.running.remove(&key);
        self.make_room(now)?;
        let until = claim.until();
        self.running.put(key.into(), Held { token: claim.token, until });
        Ok(Claimed::Ours { until })
    }

    pub(crate) fn renew(&mut self, claim: &Claim<'_>) -> Hold {
        let key = claim.key.to_bytes();
        if !self.is_ours(&key, claim.token, claim.started_at()) {
            return Hold::Lost;
        }
        self.running.put(key.into(), Held { token: claim.token, until: claim.until() });
        Hold::Ours
    }

    pub(crate) fn confirm(&mut self, confirm: &Confirm<'_>) -> Hold {
        let (key, now) = (confirm.key.to_bytes(), confirm.started_at());
        if self.is_ours(&key, confirm.token, now) {
            self.running.remove(&key);
            self.done.put(key.into(), Held { token: confirm.token, until: confirm.until() });
            return Hold::Ours;
        }
        let is_ours = |held: Held| held.token == confirm.token && held.until > now;
        if self.done.get(&key).is_some_and(is_ours) { Hold::Ours } else { Hold::Lost }
    }

    pub(crate) fn release(&mut self, release: &Release<'_>) {
        let key = release.key.to_bytes();
        if self.running.get(&key).is_some_and(|held| held.token == release.token) {
            self.running.remove(&key);
        }
    }

    fn is_ours(&self, key: &[u8], token: ClaimToken, now: Timestamp) -> bool {
        self.running.get(key).is_some_and(|held| held.token == token && held.until > now)
    }

    /// Sees to it that one more fits: in the place of one that has ended, or else of the done one that would end first.
    fn make_room(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.len() < self.most {
            return Ok(());
        }
        // Workers that ended without a word must not cost the memory of what is done, nor shut out all others.
        if self.running.first_end().is_some_and(|until| until <= now) {
            self.running.pop_first();
            return Ok(());
        }
        let until = self.done.pop_first().ok_or_else(full)?;
        self.dropped += u64::from(until > now);
        Ok(())
    }
}

impl Class {
    fn len(&self) -> usize {
        self.held.len()
    }

    fn get(&self, key: &[u8]) -> Option<Held> {
        self.held.get(key).copied()
    }

    fn put(&mut self, key: Arc<[u8]>, held: Held) {
        self.remove(&key);
        self.ends.insert((held.until, Arc::clone(&key)));
        self.held.insert(key, held);
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some((key, held)) = self.held.remove_entry(key) {
            self.ends.remove(&(held.until, key));
        }
    }

    /// When the first of them ends.
    fn first_end(&self) -> Option<Timestamp> {
        self.ends.first().map(|(until, _)| *until)
    }

    /// Takes the one out that ends first, and says when that is.
    fn pop_first(&mut self) -> Option<Timestamp> {
        let (until, key) = self.ends.pop_first()?;
        self.held.remove(&key);
        Some(until)
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
    use proptest::{collection::vec, prelude::*};
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

    #[test]
    fn what_has_ended_goes_before_what_is_done() {
        // A renewal that outlives what was claimed after it, and a longer lease that was claimed first.
        for renews in [true, false] {
            let mut table = Table::new(3);
            let lease = if renews { Window::MINUTE } else { Window::HOUR };
            let _ = table.claim(&Claim { lease, ..claim("a", 1, 0) }).unwrap();
            for key in ["b", "c"] {
                let _ = table.claim(&claim(key, 1, 0)).unwrap();
            }
            assert_eq!(table.confirm(&confirm("c", 1, 0)), Hold::Ours);
            if renews {
                assert_eq!(table.renew(&claim("a", 1, 30_000)), Hold::Ours);
            }
            assert!(matches!(table.claim(&claim("d", 2, 60_000)), Ok(Claimed::Ours { .. })));
            assert_eq!((table.len(), table.dropped()), (3, 0), "in the place of b");
            assert!(matches!(table.claim(&claim("a", 2, 60_000)), Ok(Claimed::Running { .. })));
            assert!(matches!(table.claim(&claim("c", 2, 60_000)), Ok(Claimed::Done)));
        }
    }

    #[test]
    fn of_what_is_done_that_goes_which_would_be_forgotten_first() {
        let mut table = Table::new(2);
        for (key, retention) in [("week", Window::WEEK), ("day", Window::DAY)] {
            let _ = table.claim(&claim(key, 1, 0)).unwrap();
            assert_eq!(table.confirm(&Confirm { retention, ..confirm(key, 1, 0) }), Hold::Ours);
        }
        assert!(matches!(table.claim(&claim("a", 1, 0)), Ok(Claimed::Ours { .. })));
        assert!(matches!(table.claim(&claim("week", 2, 0)), Ok(Claimed::Done)));
        assert_eq!(table.dropped(), 1);
    }

    proptest! {
        #[test]
        fn both_orders_hold_the_same_claims(
            steps in vec((0..4u8, 0..12u8, 0..3u8, 0..20_000u64), 1..200),
        ) {
            let (mut table, mut now) = (Table::new(8), 0);
            for (call, key, token, later) in steps {
                now += later;
                let key = key.to_string();
                let claim = claim(&key, token.into(), now);
                match call {
                    0 => drop(table.claim(&claim).map(|_| ())),
                    1 => drop(table.renew(&claim)),
                    2 => drop(table.confirm(&confirm(&key, token.into(), now))),
                    _ => table.release(&Release { key: claim.key, token: claim.token }),
                }
                prop_assert!(table.len() <= 8);
                for class in [&table.running, &table.done] {
                    prop_assert_eq!(class.held.len(), class.ends.len());
                    for (key, held) in &class.held {
                        prop_assert!(class.ends.contains(&(held.until, Arc::clone(key))));
                    }
                }
                prop_assert!(!table.running.held.keys().any(|key| table.done.held.contains_key(key)));
            }
        }
    }
}
