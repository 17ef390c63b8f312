//! The keys of one class that were not used for longest.

use crate::slot::Slot;

/// A queue of the oldest keys of one class, filled by a scan and used up before the next.
///
/// Nothing keeps it up to date: a use gives a slot a newer number, and a number that is no longer the slot's is skipped. What is
/// not in the queue is younger than [`Oldest::bound`], so the front of the queue is the oldest of all, exactly.
pub(crate) struct Oldest {
    refusing: bool,
    /// Last uses and places, the oldest at the end.
    queue: Vec<(u64, u32)>,
    /// Every key of the class that is not in the queue was used after this.
    bound: u64,
}

impl Oldest {
    pub(crate) const fn new(refusing: bool) -> Self {
        Self { refusing, queue: Vec::new(), bound: 0 }
    }

    pub(crate) const fn bound(&self) -> u64 {
        self.bound
    }

    /// The oldest key of the class, if the last scan still knows it.
    pub(crate) fn front(&mut self, slots: &[Slot]) -> Option<(u64, u32)> {
        while let Some(&(last_use, place)) = self.queue.last() {
            // A key changes its class only in being used, so an unchanged number says that it still belongs here.
            if slots[place as usize].last_use == last_use {
                return Some((last_use, place));
            }
            self.queue.pop();
        }
        None
    }

    /// Looks through all slots, every one taken, for the oldest eighth; `uses` is the newest number given so far.
    pub(crate) fn scan(&mut self, slots: &[Slot], uses: u64) {
        let most = slots.len().div_ceil(8);
        self.queue.clear();
        self.bound = uses;
        for (place, slot) in (0..).zip(slots) {
            if slot.refusing == self.refusing && slot.last_use <= self.bound {
                self.queue.push((slot.last_use, place));
                if self.queue.len() == 2 * most {
                    self.keep_oldest(most);
                }
            }
        }
        if self.queue.len() > most {
            self.keep_oldest(most);
        }
        self.queue.sort_unstable_by(|one, other| other.cmp(one));
    }

    fn keep_oldest(&mut self, most: usize) {
        self.queue.select_nth_unstable(most - 1);
        self.queue.truncate(most);
        if let Some(&(youngest, _)) = self.queue.last() {
            self.bound = youngest;
        }
    }
}

#[cfg(test)]
mod tests {
    use tollgate_core::{State, Timestamp};

    use super::*;
    use crate::slot::StoredKey;

    #[test]
    fn a_scan_knows_the_oldest_and_that_the_others_are_younger() {
        let state = State::Bucket { refilled_at: Timestamp::EPOCH, tokens: 0 };
        // Last uses 1 to 64 in a mixed order, every other one refusing.
        let mut slots: Vec<_> = (0..64u64)
            .map(|at| Slot {
                key: StoredKey::EMPTY,
                state,
                idle_at: Timestamp::MAX,
                last_use: at * 37 % 64 + 1,
                hash: 0,
                refusing: at % 2 == 0,
            })
            .collect();
        for refusing in [false, true] {
            let mut oldest = Oldest::new(refusing);
            assert_eq!(oldest.front(&slots), None);
            oldest.scan(&slots, 64);
            let mut expected: Vec<u64> =
                slots.iter().filter(|slot| slot.refusing == refusing).map(|slot| slot.last_use).collect();
            expected.sort_unstable();
            assert_eq!(oldest.bound(), expected[7], "an eighth of all slots is known");
            for last_use in &expected[..8] {
                let (found, place) = oldest.front(&slots).unwrap();
                assert_eq!(found, *last_use);
                slots[place as usize].last_use += 100;
            }
            assert_eq!(oldest.front(&slots), None);
        }
        // Fewer than an eighth: all are known, and what comes later is younger than the scan.
        slots.iter_mut().skip(3).for_each(|slot| slot.refusing = true);
        let mut oldest = Oldest::new(false);
        oldest.scan(&slots, 200);
        assert_eq!((oldest.queue.len(), oldest.bound()), (1, 200));
    }
}
