//! The keys, their states and the index that finds them.
//!
//! Nothing in here locks: whoever calls holds the table to himself.

use std::array;

use hashbrown::HashTable;
use tollgate_core::{Charging, Decision, Limit, State, Timestamp, Units, Verdict};
use tollgate_store::{Charge, Correction, Decisions, Forget, Key, MOST_CHARGES, Settle, StoreError, Take};

use crate::{
    MemoryStats,
    eviction::{Eviction, Full},
    settled::Settled,
    slot::{Slot, StoredKey},
};

/// The hashes of the keys of one call, in their order.
pub(crate) type Hashes = [u32; MOST_CHARGES];

pub(crate) struct Table {
    /// The place of each key.
    index: HashTable<u32>,
    slots: Vec<Slot>,
    /// Places that were given up.
    free: Vec<u32>,
    capacity: usize,
    eviction: Eviction,
    settled: Settled,
    /// The newest number given to a use.
    uses: u64,
    /// The newest time ever given: what is idle is idle by this.
    newest: Timestamp,
    /// How many slots are marked as refusing.
    refusing: usize,
    evicted_live: u64,
    evicted_refusing: u64,
}

impl Table {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            index: HashTable::new(),
            slots: Vec::new(),
            free: Vec::new(),
            capacity,
            eviction: Eviction::new(capacity),
            settled: Settled::new(capacity),
            uses: Slot::FREE,
            newest: Timestamp::EPOCH,
            refusing: 0,
            evicted_live: 0,
            evicted_refusing: 0,
        }
    }

    /// Takes the room for all keys at once, so that no charge waits for a move to more; `None` if there is not so much memory.
    pub(crate) fn reserve(&mut self) -> Option<()> {
        self.slots.try_reserve_exact(self.capacity).ok()?;
        let slots = &self.slots;
        self.index.try_reserve(self.capacity, |&place| spread(slots[place as usize].hash)).ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn stats(&self) -> MemoryStats {
        MemoryStats {
            keys: self.len(),
            capacity: self.capacity,
            evicted_live: self.evicted_live,
            evicted_refusing: self.evicted_refusing,
            dropped_settle_ids: self.settled.dropped(),
            ..MemoryStats::default()
        }
    }

    /// One charge: what [`Table::take`] does, without moving arrays.
    #[inline]
    pub(crate) fn take_one(
        &mut self,
        take: &Take<'_>,
        charge: &Charge<'_>,
        hash: u32,
    ) -> Result<Decisions, StoreError> {
        let place = self.find(&charge.key, hash);
        let found = place.map(|place| self.slots[place as usize].state);
        let mut after = None;
        let decisions = Decisions::decide(take, [found], |_, state| after = state)?;
        self.newest = self.newest.max(take.now);
        self.uses += 1;
        let outcome = Outcome { charge, after, decision: &decisions[0], number: self.uses };
        match place {
            Some(place) => self.update(place, outcome),
            None => self.insert(hash, outcome),
        }
        Ok(decisions)
    }

    pub(crate) fn take(&mut self, take: &Take<'_>, hashes: &Hashes) -> Result<Decisions, StoreError> {
        let mut places = [None; MOST_CHARGES];
        let mut after = [None; MOST_CHARGES];
        let found = take.charges.iter().zip(hashes).zip(&mut places).map(|((charge, &hash), place)| {
            *place = self.find(&charge.key, hash);
            place.map(|place| self.slots[place as usize].state)
        });
        let decisions = Decisions::decide(take, found, |at, state| after[at] = state)?;
        self.newest = self.newest.max(take.now);
        let before = self.uses;
        self.uses += MOST_CHARGES as u64;
        let outcome = |at: usize| Outcome {
            charge: &take.charges[at],
            after: after[at],
            decision: &decisions[at],
            number: before + 1 + at as u64,
        };
        // First what is there: a key that is put in may take the place of another, but of none that was just used.
        let places = &places[..take.charges.len()];
        for (at, place) in places.iter().enumerate() {
            if let Some(place) = *place {
                self.update(place, outcome(at));
            }
        }
        for (at, place) in places.iter().enumerate() {
            if place.is_none() {
                self.insert(hashes[at], outcome(at));
            }
        }
        Ok(decisions)
    }

    pub(crate) fn settle(&mut self, settle: &Settle<'_>, hashes: &Hashes) {
        self.newest = self.newest.max(settle.now);
        if self.settled.contains(settle.id) {
            return;
        }
        let mut until = Timestamp::EPOCH;
        let mut places = [None; MOST_CHARGES];
        // First what is there, as in a take: a key that is put in may take the place of another.
        for ((correction, &hash), place) in settle.corrections.iter().zip(hashes).zip(&mut places) {
            until = until.max(correction.counts_until(self.newest));
            *place = self.find(&correction.key, hash);
            if let Some(place) = *place {
                self.correct(place, correction, settle.now);
            }
        }
        for ((correction, &hash), place) in settle.corrections.iter().zip(hashes).zip(places) {
            if place.is_none()
                && let Some(state) =
                    correction.limit.settle(None, correction.stamp, correction.delta, settle.now)
            {
                self.uses += 1;
                let Correction { key, limit, .. } = correction;
                self.put(self.uses, key, hash, limit, state, is_shared(key));
            }
        }
        self.settled.remember(settle.id, until, self.newest);
    }

    /// Corrects a key that is there.
    fn correct(&mut self, place: u32, correction: &Correction<'_>, now: Timestamp) {
        let before = self.slots[place as usize].state;
        let after = correction.limit.settle(Some(before), correction.stamp, correction.delta, now);
        let Some(after) = after.filter(|after| *after != before) else { return };
        self.uses += 1;
        let slot = &mut self.slots[place as usize];
        slot.last_use = self.uses;
        let ends_protection = correction.delta < 0 || slot.is_idle(self.newest);
        if ends_protection && !is_shared(&correction.key) {
            self.mark(place, false);
        }
        self.set(place, after, correction.limit.idle_at(&after));
    }

    pub(crate) fn forget(&mut self, forget: &Forget<'_>, hashes: &Hashes) {
        for (target, &hash) in forget.targets.iter().zip(hashes) {
            if let Some(place) = self.find(&target.key, hash) {
                self.remove(place);
                self.free.push(place);
            }
        }
    }

    #[inline]
    fn find(&self, key: &Key<'_>, hash: u32) -> Option<u32> {
        let is_key = |&place: &u32| {
            let slot = &self.slots[place as usize];
            slot.hash == hash && slot.key.is(key)
        };
        self.index.find(spread(hash), is_key).copied()
    }

    /// Keeps what a decided charge left of a key that is there.
    #[inline]
    fn update(&mut self, place: u32, outcome: Outcome<'_>) {
        if outcome.is_peek() {
            return;
        }
        let slot = &mut self.slots[place as usize];
        slot.last_use = outcome.number;
        // An idle key says nothing, so what it was before does not stick to it either.
        let refused = slot.refusing && !slot.is_idle(self.newest);
        self.mark(place, outcome.protects().unwrap_or(refused));
        if let Some(after) = outcome.after
            && after != self.slots[place as usize].state
        {
            self.set(place, after, outcome.charge.limit.idle_at(&after));
        }
    }

    /// Keeps what a decided charge left of a key that is not there, if anything.
    fn insert(&mut self, hash: u32, outcome: Outcome<'_>) {
        let Some(state) = outcome.after else { return };
        let Charge { key, limit, .. } = outcome.charge;
        self.put(outcome.number, key, hash, limit, state, outcome.protects().unwrap_or(false));
    }

    /// Puts in a key that is not there.
    fn put(&mut self, last_use: u64, key: &Key<'_>, hash: u32, limit: &Limit, state: State, refusing: bool) {
        let idle_at = limit.idle_at(&state);
        let slot = Slot { key: StoredKey::new(key), state, idle_at, last_use, hash, refusing: false };
        let place = if let Some(place) = self.free_place() {
            self.slots[place as usize] = slot;
            place
        } else {
            self.slots.push(slot);
            last_place(&self.slots)
        };
        self.mark(place, refusing);
        let slots = &self.slots;
        self.index.insert_unique(spread(hash), place, |&place| spread(slots[place as usize].hash));
        self.eviction.note_idle_at(place, &self.slots);
    }

    /// A place without a key, if there is one or there may be no more; else one must be added.
    fn free_place(&mut self) -> Option<u32> {
        if self.free.is_empty() && self.slots.len() >= self.capacity {
            let full =
                Full { slots: &self.slots, refusing: self.refusing, now: self.newest, uses: self.uses };
            let place = self.eviction.next(full);
            let slot = &self.slots[place as usize];
            if !slot.is_idle(self.newest) {
                self.evicted_live += 1;
                self.evicted_refusing += u64::from(slot.refusing);
            }
            self.remove(place);
            return Some(place);
        }
        self.free.pop()
    }

    fn remove(&mut self, place: u32) {
        let hash = spread(self.slots[place as usize].hash);
        if let Ok(entry) = self.index.find_entry(hash, |&other| other == place) {
            entry.remove();
        }
        self.mark(place, false);
        let slot = &mut self.slots[place as usize];
        slot.key = StoredKey::EMPTY;
        slot.last_use = Slot::FREE;
    }

    /// Marks a key, which must have been used just now: the eviction takes an unchanged last use for an unchanged mark.
    #[inline]
    fn mark(&mut self, place: u32, refusing: bool) {
        let slot = &mut self.slots[place as usize];
        if slot.refusing != refusing {
            slot.refusing = refusing;
            self.refusing = if refusing { self.refusing + 1 } else { self.refusing - 1 };
        }
    }

    #[inline]
    fn set(&mut self, place: u32, state: State, idle_at: Timestamp) {
        let slot = &mut self.slots[place as usize];
        let is_earlier = idle_at < slot.idle_at;
        slot.state = state;
        slot.idle_at = idle_at;
        if is_earlier {
            self.eviction.note_idle_at(place, &self.slots);
        }
    }
}

/// What came of one charge.
#[derive(Clone, Copy)]
struct Outcome<'a> {
    charge: &'a Charge<'a>,
    /// The state of its key from now on.
    after: Option<State>,
    decision: &'a Decision,
    /// The number of this use: the charges of a take are used in their order, whichever of them were there before.
    number: u64,
}

impl Outcome<'_> {
    /// Whether the charge only asked: it leaves everything as it was, the order of eviction included.
    #[inline]
    fn is_peek(&self) -> bool {
        self.charge.charging == Charging::Never || self.charge.cost == Units::ZERO
    }

    /// Whether the key is protected from now on, where the decision says anything about that: a cost that can never fit does
    /// not, and neither does a shadow.
    #[inline]
    fn protects(&self) -> Option<bool> {
        match self.decision.verdict() {
            _ if is_shared(&self.charge.key) => Some(true),
            _ if !self.charge.enforce => None,
            Verdict::Allow => Some(false),
            Verdict::Deny { retry_at: Some(_) } => Some(true),
            Verdict::Deny { retry_at: None } => None,
        }
    }
}

/// Whether all are counted under this key: there are no more of them than names, so no visitor can add to them.
#[inline]
const fn is_shared(key: &Key<'_>) -> bool {
    key.parts().is_empty()
}

/// A hash as wide as the index wants it, its uppermost bits mixed from all of the others.
#[inline]
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[expect(clippy::cast_possible_truncation, reason = "the largest capacity is below 2^32")]
const fn last_place(slots: &[Slot]) -> u32 {
    (slots.len() - 1) as u32
}

/// The hashes of as many keys as one call may name; a call that names more is refused before they are looked at.
#[inline]
pub(crate) fn hashes<T>(items: &[T], hash: impl Fn(&T) -> u32) -> Hashes {
    array::from_fn(|at| items.get(at).map_or(0, &hash))
}
