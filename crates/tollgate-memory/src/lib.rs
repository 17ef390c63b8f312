//! A bounded in-memory store for Tollgate

mod capacity;
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
