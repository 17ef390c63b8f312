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

/// No bound: the key never falls idle.
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
            *bound = slot.idle_at.unix_ms();
            if *bound < NONE {
                nodes.push(Reverse((*bound, place)));
            }
        }
        self.heap = nodes.into();
    }
}

#[cfg(test)]
mod tests {
    use tollgate_core::State;

    use super::*;
    use crate::slot::StoredKey;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    fn slots(idle_at: &[u64]) -> Vec<Slot> {
        let state = State::Bucket { refilled_at: Timestamp::EPOCH, tokens: 0 };
        let slot = |(last_use, ms): (u64, &u64)| Slot {
            key: StoredKey::EMPTY,
            state,
            idle_at: at(*ms),
            last_use,
            hash: 0,
            refusing: false,
        };
        (1..).zip(idle_at).map(slot).collect()
    }

    #[test]
    fn the_idle_are_found_whatever_moved_since() {
        let mut heap = IdleHeap::default();
        let mut slots = slots(&[10, 20, 30, 40]);
        (0..4).for_each(|place| heap.note(place, &slots));
        // A later instant needs no note, an earlier one does.
        slots[0].idle_at = at(25);
        slots[2].idle_at = at(5);
        heap.note(2, &slots);
        for (now, idle) in
            [(4, None), (5, Some(2)), (19, None), (24, Some(1)), (25, Some(0)), (1_000, Some(3))]
        {
            assert_eq!(heap.pop_idle(&slots, at(now)), idle, "{now}");
            // Another key comes to the place, as the caller promises.
            if let Some(place) = idle {
                slots[place as usize].idle_at = at(2_000);
                heap.note(place, &slots);
            }
        }
        assert_eq!(heap.pop_idle(&slots, at(1_999)), None);
        assert!(heap.pop_idle(&slots, at(2_000)).is_some());
    }

    #[test]
    fn the_heap_does_not_grow_with_use() {
        let mut heap = IdleHeap::default();
        let mut slots = slots(&[10_000; 16]);
        for step in 0..5_000 {
            // One key, charged in turn under limits of shorter and shorter windows.
            slots[3].idle_at = at(9_999 - step);
            heap.note(3, &slots);
            assert!(heap.heap.len() <= 2 * slots.len());
        }
        assert_eq!(heap.pop_idle(&slots, at(5_000)), Some(3));
    }
}
