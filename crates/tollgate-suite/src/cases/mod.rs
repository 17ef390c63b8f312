//! What every store owes, a file for each kind of behaviour.

pub(crate) mod charging;
pub(crate) mod clock;
pub(crate) mod concurrency;
pub(crate) mod exact;
pub(crate) mod forget;
pub(crate) mod keys;
pub(crate) mod misuse;
pub(crate) mod settle;
pub(crate) mod take;
