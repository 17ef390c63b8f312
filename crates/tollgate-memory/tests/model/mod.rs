//! The eviction contract, written as plainly as possible: an unbounded map in order of use, and a search for each victim.

use std::collections::HashSet;

use lru::LruCache;
use tollgate_core::{Charging, State, Timestamp, Units, Verdict};
use tollgate_store::{Charge, Decisions, Settle, StoreError, Take};

pub(crate) struct Model {
    capacity: usize,
    keys: LruCache<u64, Entry>,
    /// Keys that were ever kept.
    seen: HashSet<u64>,
    pub(crate) newest: Timestamp,
    pub(crate) evicted_live: u64,
    pub(crate) evicted_refusing: u64,
}

struct Entry {
    state: State,
    idle_at: Timestamp,
    refusing: bool,
}

impl Model {
    pub(crate) fn new(capacity: usize, now: Timestamp) -> Self {
        let keys = LruCache::unbounded();
        Self { capacity, keys, seen: HashSet::new(), newest: now, evicted_live: 0, evicted_refusing: 0 }
    }

    /// Whether a store may hold the key without its saying anything.
    pub(crate) fn may_be_idle(&self, key: u64) -> bool {
        match self.keys.peek(&key) {
            Some(entry) => entry.idle_at <= self.newest,
            None => self.seen.contains(&key),
        }
    }

    pub(crate) fn peek(&self, key: u64, charge: &Charge<'_>) -> Decisions {
        let take = Take { charges: &[*charge], now: self.newest };
        let found = self.keys.peek(&key).map(|entry| entry.state);
        Decisions::decide(&take, [found], |_, _| ()).unwrap()
    }

    pub(crate) fn take(&mut self, keys: &[u64], take: &Take<'_>) -> Result<Decisions, StoreError> {
        let mut after = Vec::new();
        let found: Vec<_> = take
            .charges
            .iter()
            .enumerate()
            .map(|(at, _)| self.keys.peek(keys.get(at)?).map(|entry| entry.state))
            .collect();
        let decisions = Decisions::decide(take, found, |_, state| after.push(state))?;
        self.newest = self.newest.max(take.now);
        let held: Vec<bool> = keys.iter().map(|key| self.keys.contains(key)).collect();
        for is_there in [true, false] {
            for (at, charge) in take.charges.iter().enumerate().filter(|(at, _)| held[*at] == is_there) {
                if let Some(state) = after[at]
                    && !is_peek(charge)
                {
                    self.keep(keys[at], charge, state, decisions[at].verdict());
                }
            }
        }
        // Used in the order of the charges, whichever of them were there.
        for (key, charge) in keys.iter().zip(take.charges) {
            if !is_peek(charge) {
                self.keys.promote(key);
            }
        }
        Ok(decisions)
    }

    fn keep(&mut self, key: u64, charge: &Charge<'_>, state: State, verdict: Verdict) {
        if !self.keys.contains(&key) && self.keys.len() == self.capacity {
            self.evict();
        }
        self.seen.insert(key);
        let idle_at = charge.limit.idle_at(&state);
        let fresh = Entry { state, idle_at, refusing: false };
        let entry = self.keys.get_or_insert_mut(key, || fresh);
        entry.refusing &= entry.idle_at > self.newest;
        if entry.state != state {
            (entry.state, entry.idle_at) = (state, idle_at);
        }
        if charge.enforce {
            match verdict {
                Verdict::Allow => entry.refusing = false,
                Verdict::Deny { retry_at: Some(_) } => entry.refusing = true,
                Verdict::Deny { retry_at: None } => {}
            }
        }
    }

    fn evict(&mut self) {
        let oldest = |is_victim: &dyn Fn(&Entry) -> bool| {
            self.keys.iter().rev().find(|(_, entry)| is_victim(entry)).map(|(key, _)| *key)
        };
        let refusing = self.keys.iter().filter(|(_, entry)| entry.refusing).count();
        let victim = oldest(&|entry| entry.idle_at <= self.newest)
            .or_else(|| oldest(&|entry| !entry.refusing || refusing > self.capacity / 2))
            .unwrap();
        let entry = self.keys.pop(&victim).unwrap();
        if entry.idle_at > self.newest {
            self.evicted_live += 1;
            self.evicted_refusing += u64::from(entry.refusing);
        }
    }

    /// The end of the window the key is counted in; something for a bucket too.
    pub(crate) fn window_end(&self, key: u64) -> Option<Timestamp> {
        self.keys.peek(&key).map(|entry| match entry.state {
            State::Window { end, .. } => end,
            State::Bucket { refilled_at, .. } => refilled_at,
        })
    }

    pub(crate) fn settle(&mut self, key: u64, settle: &Settle<'_>) {
        let [correction] = settle.corrections else { panic!("one correction at a time") };
        let before = self.keys.peek(&key).map(|entry| entry.state);
        let after = correction.limit.settle(before, correction.stamp, correction.delta, settle.now);
        let Some(after) = after.filter(|after| Some(*after) != before) else { return };
        if before.is_none() && self.keys.len() == self.capacity {
            self.evict();
        }
        self.seen.insert(key);
        let idle_at = correction.limit.idle_at(&after);
        let entry = self.keys.get_or_insert_mut(key, || Entry { state: after, idle_at, refusing: false });
        (entry.state, entry.idle_at) = (after, idle_at);
        entry.refusing &= correction.delta >= 0;
    }

    pub(crate) fn forget(&mut self, key: u64) {
        self.keys.pop(&key);
        self.seen.remove(&key);
    }
}

fn is_peek(charge: &Charge<'_>) -> bool {
    charge.charging == Charging::Never || charge.cost == Units::ZERO
}
