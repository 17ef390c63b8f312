//! The store itself: one table under one lock.

use std::{fmt, hash::BuildHasher};

use async_trait::async_trait;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use tollgate_store::{
    Claim, Claimed, Claims, Confirm, Decisions, Forget, Hold, Key, Release, Settle, Store, StoreError, Take,
};

use crate::{
    MemoryStats,
    capacity::{self, CapacityError},
    claimed,
    table::{Table, hashes},
};

/// Keeps the counts of at most so many keys in memory, and forgets by a stated order.
///
/// Cheap to use from many threads through an `Arc`; nothing runs in the background. See the [crate] for what goes first when it
/// is full, and for what a key costs.
///
/// ```
/// use tollgate_core::{Limit, Timestamp, Window};
/// use tollgate_memory::MemoryStore;
/// use tollgate_store::{Charge, Key, KeyParts, Name, Take};
///
/// let store = MemoryStore::with_capacity(1_000)?;
/// let parts = "203.0.113.7".into_parts();
/// let charge = Charge::new(Key::new(Name::new("sign-in"), &parts), Limit::fixed(1, Window::MINUTE));
/// let take = Take { charges: &[charge], now: Timestamp::from_unix_ms(1_700_000_000_000) };
///
/// assert!(store.take(&take)?.is_admitted());
/// assert!(!store.take(&take)?.is_admitted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryStore {
    table: Mutex<Table>,
    claims: Mutex<claimed::Table>,
    random: RandomState,
    capacity: usize,
}

impl MemoryStore {
    /// Keys that a store of [`MemoryStore::new`] holds at most.
    pub const DEFAULT_CAPACITY: usize = capacity::DEFAULT;
    /// The least capacity: two of the largest takes, so that half of the keys can be protected and the keys of one take never push
    /// each other out.
    pub const LEAST_CAPACITY: usize = capacity::LEAST;
    /// The greatest capacity.
    pub const MOST_CAPACITY: usize = capacity::MOST;
    /// The greatest capacity at which keys go in exact order; a larger store looks at a sample.
    pub const EXACT_UP_TO: usize = crate::eviction::EXACT_UP_TO;

    /// A store of at most [`MemoryStore::DEFAULT_CAPACITY`] keys.
    #[must_use]
    pub fn new() -> Self {
        let mut table = Table::new(capacity::DEFAULT);
        // Room that cannot be had at once is taken as keys arrive.
        let _ = table.reserve();
        Self::of(table, capacity::DEFAULT)
    }

    /// A store of at most `capacity` keys. The room for them is taken at once.
    ///
    /// # Errors
    /// If `capacity` is not [`MemoryStore::LEAST_CAPACITY`] to [`MemoryStore::MOST_CAPACITY`], or there is not so much memory.
    pub fn with_capacity(capacity: usize) -> Result<Self, CapacityError> {
        capacity::check(capacity)?;
        let mut table = Table::new(capacity);
        table.reserve().ok_or(CapacityError::NoMemory { capacity })?;
        Ok(Self::of(table, capacity))
    }

    fn of(table: Table, capacity: usize) -> Self {
        let claims = Mutex::new(claimed::Table::new(capacity));
        Self { table: Mutex::new(table), claims, random: RandomState::default(), capacity }
    }

    /// Takes all charges or none, at once: what [`Store::take`] does, without a future.
    ///
    /// Allocates nothing if the keys are known.
    ///
    /// # Errors
    /// [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse) and
    /// [`StoreErrorKind::ClockBehind`](tollgate_store::StoreErrorKind::ClockBehind), as [`Decisions::decide`]; nothing is written
    /// then.
    #[inline]
    pub fn take(&self, take: &Take<'_>) -> Result<Decisions, StoreError> {
        if let [charge] = take.charges {
            let hash = self.hash(&charge.key);
            return self.table.lock().take_one(take, charge, hash);
        }
        let hashes = hashes(take.charges, |charge| self.hash(&charge.key));
        self.table.lock().take(take, &hashes)
    }

    /// Corrects earlier charges in the windows they were made in: what [`Store::settle`] does, without a future.
    ///
    /// A key that is gone is left alone, but for a bucket more of which was used than was taken: it was full. The ids of the latest settlements are remembered, of as many as the store may hold keys;
    /// beyond that the oldest is forgotten, and [`MemoryStats::dropped_settle_ids`] rises if it still counted.
    ///
    /// # Errors
    /// Only [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse), as [`Settle::check`]; nothing is written then.
    pub fn settle(&self, settle: &Settle<'_>) -> Result<(), StoreError> {
        settle.check()?;
        let hashes = hashes(settle.corrections, |correction| self.hash(&correction.key));
        self.table.lock().settle(settle, &hashes);
        Ok(())
    }

    /// Forgets what the named keys have spent: what [`Store::forget`] does, without a future.
    ///
    /// # Errors
    /// Only [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse), as [`Forget::check`]; nothing is forgotten then.
    pub fn forget(&self, forget: &Forget<'_>) -> Result<(), StoreError> {
        forget.check()?;
        let hashes = hashes(forget.targets, |target| self.hash(&target.key));
        self.table.lock().forget(forget, &hashes);
        Ok(())
    }

    /// Keys held now, those that are idle and not yet replaced included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.lock().len()
    }

    /// Whether no key is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keys held at most.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// How full it is and what it had to forget.
    #[must_use]
    pub fn stats(&self) -> MemoryStats {
        let stats = self.table.lock().stats();
        let claims = self.claims.lock();
        MemoryStats { claims: claims.len(), dropped_claims: claims.dropped(), ..stats }
    }

    /// The hash of a key under a seed of this store's own, so that nobody outside can choose keys that collide.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both halves of the hash are folded into the result")]
    fn hash(&self, key: &Key<'_>) -> u32 {
        let hash = self.random.hash_one(key);
        (hash ^ (hash >> 32)) as u32
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    #[inline]
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        Some(Self::take(self, take))
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        Self::take(self, &take)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        Self::settle(self, &settle)
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        Self::forget(self, &forget)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for MemoryStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        self.claims.lock().claim(&claim)
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        Ok(self.claims.lock().renew(&claim))
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        Ok(self.claims.lock().confirm(&confirm))
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        self.claims.lock().release(&release);
        Ok(())
    }
}
