//! What a reservation holds open until it is settled, and how it is settled when it is dropped.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Waker},
};

use arrayvec::ArrayVec;
use tollgate_core::{Limit, Stamp, Timestamp, Units};
use tollgate_store::{Correction, MOST_CHARGES, Settle, SettleId, Store, StoreError, Take};

use crate::{
    Guard, Pass, PolicyCharge,
    charge::OwnedCharge,
    spawner::{SettleTask, Spawner},
};

/// What settling needs of a guard, whatever its store is.
pub(crate) trait Ledger: fmt::Debug + Send + Sync {
    /// The store that counted, or the local one.
    fn store(&self, is_local: bool) -> &dyn Store;
    fn now(&self) -> Timestamp;
    fn spawner(&self) -> Option<&Spawner>;
}

impl<S: Store> Ledger for Guard<S> {
    fn store(&self, is_local: bool) -> &dyn Store {
        match &self.parts.local {
            Some(local) if is_local => local,
            _ => &self.parts.store,
        }
    }

    fn now(&self) -> Timestamp {
        Self::now(self)
    }

    fn spawner(&self) -> Option<&Spawner> {
        self.parts.spawner.as_ref()
    }
}

/// A book that is settled when it is dropped, unless it was closed.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) book: Book,
    pub(crate) is_open: bool,
}

impl Drop for Account {
    fn drop(&mut self) {
        if self.is_open {
            let book = Book { entries: std::mem::take(&mut self.book.entries), ..self.book.empty() };
            book.settle_unattended();
        }
    }
}

/// What was taken, and what is known to be used of it.
#[derive(Debug)]
pub(crate) struct Book {
    ledger: Arc<dyn Ledger>,
    id: SettleId,
    is_local: bool,
    pub(crate) entries: Vec<Entry>,
}

/// One charge of a reservation.
#[derive(Debug)]
pub(crate) struct Entry {
    charge: OwnedCharge,
    /// Nothing where it was not counted.
    taken: Option<Taken>,
    noted: Noted,
    /// What it is settled to, once that is decided.
    used: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    limit: Limit,
    stamp: Stamp,
    written: Units,
}

/// An amount, or nothing yet: one more than the amount, or 0.
#[derive(Debug, Default)]
struct Noted(AtomicU64);

impl Entry {
    pub(crate) fn is_estimate(&self) -> bool {
        self.charge.is_estimate()
    }

    /// `used` in all; less than before changes nothing.
    pub(crate) fn note(&self, used: u64) {
        self.noted.0.fetch_max(clamped(used) + 1, Ordering::Relaxed);
    }

    pub(crate) fn note_more(&self, more: u64) {
        let add = |noted: u64| Some(clamped(noted.saturating_sub(1).saturating_add(more)) + 1);
        // The closure always gives a number, so there is no failure.
        let _ = self.noted.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Decides what it is settled to: from then on notes change nothing.
    pub(crate) fn decide(&mut self, used: u64) {
        self.used = Some(clamped(used));
    }

    /// How many units are known to be used, if any are.
    pub(crate) fn known(&self) -> Option<u64> {
        self.used.or_else(|| self.noted.0.load(Ordering::Relaxed).checked_sub(1))
    }

    /// What was taken, and how many units more were used; nothing where that is not known, or no different.
    fn correction(&self) -> Option<(PolicyCharge<'_>, Taken, i64)> {
        let taken = self.taken?;
        let delta = self.known()?.cast_signed() - taken.written.get().cast_signed();
        if delta == 0 { None } else { Some((self.charge.borrowed(), taken, delta)) }
    }
}

fn clamped(units: u64) -> u64 {
    units.min(Units::MAX.get())
}

impl Book {
    pub(crate) fn new<S: Store>(guard: &Arc<Guard<S>>, charges: &[PolicyCharge<'_>], pass: &Pass) -> Self {
        let mut entries: Vec<_> = charges
            .iter()
            .map(|charge| Entry { charge: charge.into(), taken: None, noted: Noted::default(), used: None })
            .collect();
        for decision in pass.decisions().iter().filter(|decision| decision.written > Units::ZERO) {
            let place = decision.place();
            if let (Some(entry), Some(charge)) = (entries.get_mut(place), charges.get(place)) {
                let (limit, stamp) = (guard.limit_of(charge, pass), decision.decision.stamp());
                entry.taken = Some(Taken { limit, stamp, written: decision.written });
            }
        }
        let ledger: Arc<dyn Ledger> = Arc::<Guard<S>>::clone(guard);
        Self { ledger, id: pass.refund_id.get(), is_local: pass.outage.is_some(), entries }
    }

    fn empty(&self) -> Self {
        Self { ledger: Arc::clone(&self.ledger), id: self.id, is_local: self.is_local, entries: Vec::new() }
    }

    /// Whether something was taken on an estimate of which nothing is known since.
    pub(crate) fn is_unknown(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.is_estimate() && entry.taken.is_some() && entry.known().is_none())
    }

    /// Corrects what is known, under the one id of this book.
    pub(crate) async fn settle(&self) -> Result<(), StoreError> {
        let due: ArrayVec<_, MOST_CHARGES> = self.entries.iter().filter_map(Entry::correction).collect();
        if due.is_empty() {
            return Ok(());
        }
        let corrections: ArrayVec<_, MOST_CHARGES> = due
            .iter()
            .map(|(charge, taken, delta)| Correction {
                key: charge.key(),
                limit: taken.limit,
                stamp: taken.stamp,
                delta: *delta,
            })
            .collect();
        let settle = Settle { id: self.id, corrections: &corrections, now: self.ledger.now() };
        self.ledger.store(self.is_local).settle(settle).await
    }

    /// Settles what is known without anybody to wait for it: at once where the store answers at once, else by the guard's spawner.
    fn settle_unattended(self) {
        if self.is_unknown() {
            self.stays_spent("it was dropped and nothing was noted");
            return;
        }
        if self.entries.iter().all(|entry| entry.correction().is_none()) {
            return;
        }
        let ledger = Arc::clone(&self.ledger);
        let has_spawner = ledger.spawner().is_some();
        let why = if has_spawner {
            "its task was dropped"
        } else {
            "the guard has no spawner: give its builder one"
        };
        let is_local = self.is_local;
        // Whoever drops may be unwinding already, and a store or a spawner that needs a runtime may panic where there is none.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut task: SettleTask = Box::pin(Unattended { book: Some(self), why }.run());
            let nothing = Take { charges: &[], now: ledger.now() };
            let is_at_once = ledger.store(is_local).take_now(&nothing).is_some();
            if is_at_once && task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                return;
            }
            if let Some(spawner) = ledger.spawner() {
                spawner.spawn(task);
            }
        }));
    }

    #[cold]
    fn stays_spent(&self, why: &str) {
        tracing::warn!(
            policies = ?self.policies(),
            uncounted = ?self.uncounted(),
            why,
            "a reservation is not settled and stays spent"
        );
    }

    /// The units that were used beyond what was taken, of each that was taken: nobody will have counted them.
    fn uncounted(&self) -> Vec<i64> {
        let beyond = |entry: &Entry| entry.correction().map_or(0, |(_, _, delta)| delta.max(0));
        self.entries.iter().filter(|entry| entry.taken.is_some()).map(beyond).collect()
    }

    /// Names alone: a key may hold a visitor's address.
    fn policies(&self) -> Vec<&str> {
        self.entries.iter().filter(|entry| entry.taken.is_some()).map(|entry| entry.charge.name()).collect()
    }
}

/// A settlement that nobody waits for. Tells the log how it ended, even if it never ran.
struct Unattended {
    book: Option<Book>,
    why: &'static str,
}

impl Unattended {
    async fn run(mut self) {
        let Some(book) = &self.book else { return };
        match book.settle().await {
            Ok(()) => {
                tracing::debug!(policies = ?book.policies(), "a dropped reservation is settled to what it used");
            }
            Err(error) => tracing::warn!(
                policies = ?book.policies(),
                uncounted = ?book.uncounted(),
                error = &error as &dyn std::error::Error,
                "a reservation could not be settled and stays spent"
            ),
        }
        self.book = None;
    }
}

impl Drop for Unattended {
    fn drop(&mut self) {
        if let Some(book) = &self.book {
            book.stays_spent(self.why);
        }
    }
}
