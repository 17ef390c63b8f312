//! What an operator wants to know of a store.

/// How full a store is, and what it had to forget for want of room.
///
/// A count that rises says that the capacity is too small for the visitors there are, or that somebody sends requests under ever
/// new names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStats {
    /// Keys held now, those that are idle and not yet replaced included.
    pub keys: usize,
    /// Keys held at most.
    pub capacity: usize,
    /// Keys forgotten while they still said something: whoever they belonged to has its whole quota again.
    pub evicted_live: u64,
    /// Those of `evicted_live` that were refusing, or that all share.
    pub evicted_refusing: u64,
    /// Ids of settlements forgotten too early: one that is sent again after that is applied again.
    pub dropped_settle_ids: u64,
    /// Claims held now, running and done, those that have ended and are not yet replaced included.
    pub claims: usize,
    /// Claims forgotten although they were done not long ago: their messages would be worked on again.
    pub dropped_claims: u64,
}
