//! Which key goes when one more than fits arrives.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use tollgate_core::Timestamp;

use crate::{idle::IdleHeap, oldest::Oldest, slot::Slot};

/// The order in which keys go: idle ones first, then the least recently used of those that are not refusing, and refusing ones
/// only where they are more than half of all.
///
/// Every key that is charged pays for this with one number in its own slot and nothing else; the work is done when a key has to
/// go.
pub(crate) enum Eviction {
    Exact(Exact),
    Sampled(Sampled),
}

/// The largest store that evicts in exact order: beyond it the scans would hold up a charge for milliseconds.
pub(crate) const EXACT_UP_TO: usize = 65_536;

/// A store in which every place is taken.
#[derive(Clone, Copy)]
pub(crate) struct Full<'a> {
    pub(crate) slots: &'a [Slot],
    /// How many of the keys are refusing.
    pub(crate) refusing: usize,
    /// The newest time that was ever given.
    pub(crate) now: Timestamp,
    /// The newest number of a use.
    pub(crate) uses: u64,
}

impl Full<'_> {
    /// Whether refusing keys go like any other, since they are more than half of all.
    const fn are_refusing_common(&self) -> bool {
        self.refusing > self.slots.len() / 2
    }
}

impl Eviction {
    pub(crate) fn new(capacity: usize) -> Self {
        if capacity <= EXACT_UP_TO {
            Self::Exact(Exact {
                idle: IdleHeap::default(),
                others: Oldest::new(false),
                refusing: Oldest::new(true),
            })
        } else {
            Self::Sampled(Sampled { random: RandomState::default(), drawn: 0 })
        }
    }

    /// Takes note that the key at `place` is new, or that it falls idle earlier than before.
    #[inline]
    pub(crate) fn note_idle_at(&mut self, place: u32, slots: &[Slot]) {
        if let Self::Exact(exact) = self {
            exact.idle.note(place, slots);
        }
    }

    /// The place of the key that goes next, for another key to be put there.
    pub(crate) fn next(&mut self, full: Full<'_>) -> u32 {
        match self {
            Self::Exact(exact) => exact.next(full),
            Self::Sampled(sampled) => sampled.next(full),
        }
    }
}

pub(crate) struct Exact {
    idle: IdleHeap,
    others: Oldest,
    refusing: Oldest,
}

impl Exact {
    fn next(&mut self, full: Full<'_>) -> u32 {
        if let Some(place) = self.idle.pop_idle(full.slots, full.now) {
            return place;
        }
        // No key is idle from here on, so every one that is marked as refusing does refuse.
        if !full.are_refusing_common() {
            if self.others.front(full.slots).is_none() {
                self.others.scan(full.slots, full.uses);
            }
            if let Some((_, place)) = self.others.front(full.slots) {
                return place;
            }
        }
        // A class whose queue has run out is scanned only if it could hold the oldest of all.
        loop {
            match (self.others.front(full.slots), self.refusing.front(full.slots)) {
                (Some((other, place)), Some((refusing, _))) if other < refusing => return place,
                (Some(_), Some((_, place))) => return place,
                (Some((other, place)), None) if other <= self.refusing.bound() => return place,
                (None, Some((refusing, place))) if refusing <= self.others.bound() => return place,
                (Some(_), None) => self.refusing.scan(full.slots, full.uses),
                (None, Some(_)) => self.others.scan(full.slots, full.uses),
                (None, None) => {
                    self.refusing.scan(full.slots, full.uses);
                    self.others.scan(full.slots, full.uses);
                }
            }
        }
    }
}

/// Looks at a few keys at random: nearly the oldest goes, at the same price for any capacity.
pub(crate) struct Sampled {
    random: RandomState,
    drawn: u64,
}

/// How many keys one sample looks at.
const SAMPLE: usize = 16;
/// How many samples are drawn before a protected key goes.
const SAMPLES: usize = 8;

/// The order in which the keys of a sample go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Idle,
    Common,
    Protected,
}

impl Sampled {
    fn next(&mut self, full: Full<'_>) -> u32 {
        let mut best = (Class::Protected, u64::MAX, 0);
        for _ in 0..SAMPLES {
            for _ in 0..SAMPLE {
                let place = self.draw(full.slots.len());
                let slot = &full.slots[place as usize];
                let class = if slot.is_idle(full.now) {
                    Class::Idle
                } else if slot.refusing && !full.are_refusing_common() {
                    Class::Protected
                } else {
                    Class::Common
                };
                best = best.min((class, slot.last_use, place));
            }
            if best.0 < Class::Protected {
                break;
            }
        }
        best.2
    }

    #[expect(clippy::cast_possible_truncation, reason = "a place is below the number of slots, a u32")]
    fn draw(&mut self, slots: usize) -> u32 {
        self.drawn = self.drawn.wrapping_add(1);
        (self.random.hash_one(self.drawn) % slots as u64) as u32
    }
}
