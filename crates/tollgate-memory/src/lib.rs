//! A bounded in-memory store for Tollgate.
//!
//! [`MemoryStore`] keeps the counts of one process: what a single server needs, and what stands in when a shared store is away.
//!
//! It never grows past its capacity, runs a task in the background, reads a clock, or waits for anything but its own lock.
//!
//! ```
//! use tollgate_core::{Limit, Timestamp, Window};
//! use tollgate_memory::MemoryStore;
//! use tollgate_store::{Charge, Key, KeyParts, Name, Take};
//!
//! let store = MemoryStore::new();
//!
//! // Twenty in a minute and fifteen in a day: taken both or none.
//! let (burst, day) = ("203.0.113.7".into_parts(), ("docs", "203.0.113.7").into_parts());
//! let charges = [
//!     Charge::new(Key::new(Name::new("ask-burst"), &burst), Limit::fixed(20, Window::MINUTE)),
//!     Charge::new(Key::new(Name::new("ask"), &day), Limit::fixed(15, Window::DAY)),
//! ];
//! let now = Timestamp::from_unix_ms(1_700_000_000_000);
//! for _ in 0..15 {
//!     assert!(store.take(&Take { charges: &charges, now })?.is_admitted());
//! }
//! let refused = store.take(&Take { charges: &charges, now })?;
//! assert!(!refused.is_admitted());
//! assert_eq!(refused[0].remaining(), 5); // not charged for what the other refused
//! # Ok::<(), tollgate_store::StoreError>(())
//! ```
//!
//! # What goes when it is full
//!
//! At most [`MemoryStore::capacity`] keys are held, always. A key comes into being when something is written to it: a request that
//! is refused at once, or only asks, makes none. When one more than fits arrives, one goes:
//!
//! 1. a key that is idle, in no particular order: its windows have passed, or its bucket is full, so it says no more than no key;
//! 2. else the least recently used of those that are not refusing;
//! 3. else, where more than half of all keys are refusing, the least recently used of all.
//!
//! A key is refusing if the last enforced charge on it was refused and waiting would help. So a visitor who is blocked stays
//! blocked while any number of fresh ones goes by; and since only half of the places are protected, visitors who are pushed to
//! refusal cannot take the room in which others are counted. A key without parts, a budget that all share, counts as one that is
//! refusing from its first charge: fresh visitors must not be able to push out what everybody has spent. A key is used by a take that charges it, refused or not, and by a
//! settlement that changes it. To ask, with [`Charging::Never`](tollgate_core::Charging::Never) or a cost of 0, is no use and
//! leaves the order as it was.
//!
//! Whoever is evicted before being idle has the whole quota again. [`MemoryStore::stats`] counts that: size the store for the keys
//! that are live at one time.
//!
//! The order is exact up to a capacity of [`MemoryStore::EXACT_UP_TO`] (65,536). A larger store looks at 16 keys at random instead
//! and takes the one that would go first, so that one arrival never waits for a look at all of them; a refusing key goes out of
//! turn only if 128 keys in a row were.
//!
//! # Claims
//!
//! The store keeps [`Claims`](tollgate_store::Claims) too, under a lock of their own and beside the counts: at most as many as it may
//! hold keys. When there is no room for one more, one goes whose lease has ended; else, of those that are done, the one that would be
//! forgotten first, and [`MemoryStats::dropped_claims`] rises if it still
//! said something: its message would be worked on again if it arrived once more. A claim that is running is never forgotten
//! before its lease ends; where all of them are, the next one is a [`Busy`](tollgate_store::StoreErrorKind::Busy). With the process all
//! of it goes.
//!
//! # Time
//!
//! Time comes with each call and may step back; each charge is decided at the time it gives. What is idle is judged by the newest
//! time the store was ever given.
//!
//! # Costs
//!
//! A take of known keys allocates nothing. A key costs about 120 bytes, 112 of them taken at construction, and up to 50 more in
//! a store that evicts in exact order; one whose name and parts are longer than some 44 bytes costs their length besides. A take of
//! a known key pays for the order of eviction with one number in its own slot. An arrival at a full store is cheap but for a look at
//! all slots once in an eighth of the capacity.
//!
//! There is one lock for the counts, held while a take looks its keys up and does the arithmetic, and never while anything is waited for.

mod capacity;
mod claimed;
mod eviction;
mod idle;
mod oldest;
mod settled;
mod slot;
mod stats;
mod store;
mod table;

pub use capacity::CapacityError;
pub use stats::MemoryStats;
pub use store::MemoryStore;
