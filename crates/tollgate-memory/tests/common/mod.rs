//! Short ways to charge a store.

use tollgate_core::{Limit, Timestamp, Units};
use tollgate_memory::MemoryStore;
use tollgate_store::{Charge, Decisions, Key, KeyParts, Name, Part, StoreError, Take};

pub(crate) const NAME: Name<'static> = Name::new("ask");

/// A full day of round numbers, so that windows are easy to see.
pub(crate) const NOON: u64 = 86_400_000 * 20_000 + 43_200_000;

pub(crate) fn at(ms: u64) -> Timestamp {
    Timestamp::from_unix_ms(ms)
}

pub(crate) fn number(number: u64) -> [Part<'static>; 1] {
    number.into_parts()
}

/// One charge, one unit.
pub(crate) fn take(store: &MemoryStore, visitor: u64, limit: Limit, now: u64) -> Decisions {
    let parts = number(visitor);
    take_all(store, &[Charge::new(Key::new(NAME, &parts), limit)], now).unwrap()
}

pub(crate) fn take_all(
    store: &MemoryStore,
    charges: &[Charge<'_>],
    now: u64,
) -> Result<Decisions, StoreError> {
    store.take(&Take { charges, now: at(now) })
}

/// Units spent, without spending any.
pub(crate) fn used(store: &MemoryStore, visitor: u64, limit: Limit, now: u64) -> u64 {
    let parts = number(visitor);
    let charge = Charge { cost: Units::ZERO, ..Charge::new(Key::new(NAME, &parts), limit) };
    take_all(store, &[charge], now).unwrap()[0].used().get()
}
