//! Which key falls idle next.

use std::{cmp::Reverse, collections::BinaryHeap};

use tollgate_core::Timestamp;

use crate::slot::Slot;

/// A heap of when each place falls idle, repaired only when somebody looks.
///
/// A charge mostly makes a key fall idle later. So the heap holds a lower bound for each place and a hit leaves it alone; whoever
/// needs an idle key corrects the bounds that have come due. A bound belongs to the place and not to the key in it, so putting
/// another key there mostly leaves the heap alone too.
#[derive(Default)]
pub(crate) struct IdleHeap {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// For each place the least bound in the heap, which is not above the real instant.
    bounds: Vec<u64>,
}

/// No bound: the place is free, or its key never falls idle.
const NONE: u64 = Timestamp::MAX.unix_ms();

impl IdleHeap {
    /// Takes note that the key at `place` may fall idle earlier than was known.
    pub(crate) fn note(&mut self, place: u32, slots: &[Slot]) {
        self.bounds.resize(slots.len(), NONE);
        let idle_at = slots[place as usize].idle_at.unix_ms();
        if idle_at >= self.bounds[place as usize] {
            return;
        }
        // What was pushed for the place before stays in the heap, outdated, until it comes due or is too much.
        if self.heap.len() >= 2 * slots.len() {
            self.rebuild(slots);
        } else {
            self.push(place, idle_at);
        }
    }

    /// A place whose key is idle at `now`, if there is any. The place is taken out: note it again with another key in it.
    pub(crate) fn pop_idle(&mut self, slots: &[Slot], now: Timestamp) -> Option<u32> {
        let mut outdated = 0;
        while let Some(&Reverse((bound, place))) = self.heap.peek()
            && bound <= now.unix_ms()
        {
            self.heap.pop();
            let slot = &slots[place as usize];
            if self.bounds[place as usize] != bound {
                continue;
            }
            self.bounds[place as usize] = NONE;
            if slot.is_free() {
                continue;
            }
            if slot.is_idle(now) {
                return Some(place);
            }
            self.push(place, slot.idle_at.unix_ms());
            outdated += 1;
            // One pass over all is cheaper than many a walk through the heap.
            if outdated * 8 > slots.len() {
                self.rebuild(slots);
                outdated = 0;
            }
        }
        None
    }

    fn push(&mut self, place: u32, bound: u64) {
        if bound < NONE {
            self.bounds[place as usize] = bound;
            self.heap.push(Reverse((bound, place)));
        }
    }

    fn rebuild(&mut self, slots: &[Slot]) {
        let mut nodes = std::mem::take(&mut self.heap).into_vec();
        nodes.clear();
        for ((place, slot), bound) in (0..).zip(slots).zip(&mut self.bounds) {
            *bound = if slot.is_free() { NONE } else { slot.idle_at.unix_ms() };
            if *bound < NONE {
                nodes.push(Reverse((*bound, place)));
            }
        }
        self.heap = nodes.into();
    }
}
