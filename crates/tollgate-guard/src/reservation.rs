//! Budgets: what costs as much as it used, known only at the end.

use std::{error::Error, fmt, sync::Arc};

use tollgate_store::{Store, StoreError};

use crate::{
    Guard, Outcome, Pass, PolicyCharge,
    account::{Account, Book, Entry},
};

impl<S: Store> Guard<S> {
    /// Checks and takes all charges or none, as [`Guard::check`] does, and keeps those that are
    /// [estimates](PolicyCharge::estimate) open until it is known what they came to.
    ///
    /// Charges of a fixed cost, such as one request, may stand beside them. While the store is gone each policy does what it says:
    /// what was counted locally is settled there, and what was skipped is not settled.
    ///
    /// Without a single estimate it is a misuse: that is a check. Whatever this had taken when it was dropped before it answered stays
    /// spent, as with a check.
    pub async fn reserve(self: &Arc<Self>, charges: &[PolicyCharge<'_>]) -> Outcome<Reservation> {
        if !charges.iter().any(PolicyCharge::is_estimate) {
            let error = StoreError::misuse("a reservation without an estimate: mark one, or use `check`");
            let outage = self.unprepared(&error);
            self.parts.tally.count(&Outcome::Unavailable(outage));
            return Outcome::Unavailable(outage);
        }
        self.check_estimates(charges).await.map(|pass| Reservation::new(self, charges, pass))
    }
}

/// Units that are taken on an estimate, and settled once it is known how many were used.
///
/// [`settle`](Self::settle) gives back what was too much, or charges what was too little, past the quota if need be: the next
/// request sees the debt. Either happens in the window the units were taken in; if that is over, nothing happens. Units are integers:
/// tokens, or millionths of a currency unit.
///
/// [`note`](Self::note) says what is used so far. A reservation that is dropped, by a handler that fails or a client that goes away, is
/// settled to that: at once where the store answers at once, else by the guard's [spawner](crate::GuardBuilder::spawner).
/// If nothing was noted, or the settling fails, what was taken stays spent until its window ends, and a warning is logged. Where more
/// was used than was taken and the settling fails for good, the excess is lost: the budget never learns of it, and the warning says
/// how much it is. It needs no lease: nothing is locked.
///
/// ```
/// use std::sync::Arc;
/// use tollgate_guard::{Guard, Limit, OnOutage, Outcome, Policy, Window};
/// # use tollgate_memory::MemoryStore;
///
/// const CHATS: Policy<1> = Policy::new("chats", Limit::fixed(20, Window::HOUR), OnOutage::Deny);
/// const TOKENS: Policy<0> = Policy::new("tokens", Limit::fixed(100_000, Window::DAY), OnOutage::Deny).warn_at(80);
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let guard = Arc::new(Guard::builder(MemoryStore::new()).policy(CHATS).policy(TOKENS).build()?);
///
/// let charges = [CHATS.charge("203.0.113.7"), TOKENS.charge(()).estimate(2_000)];
/// let Outcome::Allow(reservation) = guard.reserve(&charges).await else { panic!("there is budget") };
/// for tokens in [120, 80, 95] {
///     reservation.note_more(tokens); // as they are streamed: if we are cut off here, this is what it cost
/// }
/// reservation.settle(310).await?; // what the bill says
///
/// let left = guard.peek(&[TOKENS.charge(())]).await;
/// assert_eq!(left.decisions()[0].decision().remaining(), 100_000 - 310);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "dropped without a note, a reservation stays spent"]
pub struct Reservation {
    pass: Pass,
    account: Account,
}

impl Reservation {
    fn new<S: Store>(guard: &Arc<Guard<S>>, charges: &[PolicyCharge<'_>], pass: Pass) -> Self {
        let book = Book::new(guard, charges, &pass);
        Self { pass, account: Account { book, is_open: true } }
    }

    /// What was decided when it was made.
    #[must_use]
    pub const fn pass(&self) -> &Pass {
        &self.pass
    }

    /// How many estimates it has.
    #[must_use]
    pub fn estimates(&self) -> usize {
        self.account.estimates().count()
    }

    /// Notes that so many units are used so far, in all and of each estimate. Less than before changes nothing.
    ///
    /// Costs next to nothing, and nothing is sent anywhere.
    pub fn note(&self, used: u64) {
        self.account.estimates().for_each(|entry| entry.note(used));
    }

    /// Notes that so many units more are used, of each estimate.
    pub fn note_more(&self, more: u64) {
        self.account.estimates().for_each(|entry| entry.note_more(more));
    }

    /// As [`note`](Self::note) for estimates in different units: an amount for each, in the order of the charges.
    ///
    /// # Errors
    /// Only [`StoreErrorKind::Misuse`](crate::StoreErrorKind::Misuse), if there are more or fewer amounts than estimates; nothing is
    /// noted then.
    pub fn note_each(&self, used: &[u64]) -> Result<(), StoreError> {
        self.account.check_amounts(used)?;
        self.account.estimates().zip(used).for_each(|(entry, used)| entry.note(*used));
        Ok(())
    }

    /// As [`note_more`](Self::note_more) for estimates in different units: an amount for each, in the order of the charges.
    ///
    /// # Errors
    /// As [`note_each`](Self::note_each).
    pub fn note_more_each(&self, more: &[u64]) -> Result<(), StoreError> {
        self.account.check_amounts(more)?;
        self.account.estimates().zip(more).for_each(|(entry, more)| entry.note_more(*more));
        Ok(())
    }

    /// Settles each estimate to what was really used, whatever was noted.
    ///
    /// What it is settled to counts from the call on, even if the future is dropped on its way: then it goes on as a dropped reservation
    /// does.
    ///
    /// # Errors
    /// If the store could not: see [`Unsettled`].
    pub fn settle(self, used: u64) -> impl Future<Output = Result<(), Unsettled>> + Send + 'static {
        self.decide(|_| Some(used)).finish()
    }

    /// As [`settle`](Self::settle) for estimates in different units: an amount for each, in the order of the charges.
    ///
    /// # Errors
    /// If the store could not. [`StoreErrorKind::Misuse`](crate::StoreErrorKind::Misuse) if there are more or fewer amounts than
    /// estimates: then what was noted is all that is known.
    pub fn settle_each(
        self,
        used: &[u64],
    ) -> impl Future<Output = Result<(), Unsettled>> + Send + use<> + 'static {
        let checked = self.account.check_amounts(used);
        let mut used = used.iter().copied();
        let account = if checked.is_ok() { self.decide(|_| used.next()) } else { self.account };
        async {
            match checked {
                Ok(()) => account.finish().await,
                Err(error) => Err(Unsettled { account, error }),
            }
        }
    }

    /// Settles each estimate to what was noted. Where nothing was, what was taken stays spent, and a warning is logged.
    ///
    /// # Errors
    /// If the store could not: see [`Unsettled`].
    pub fn close(self) -> impl Future<Output = Result<(), Unsettled>> + Send + 'static {
        self.decide(Entry::known).finish()
    }

    /// Gives everything back, the fixed costs too: for what was never begun.
    ///
    /// # Errors
    /// If the store could not: see [`Unsettled`].
    pub fn refund(self) -> impl Future<Output = Result<(), Unsettled>> + Send + 'static {
        let Self { mut account, .. } = self;
        account.book.entries.iter_mut().for_each(|entry| entry.decide(0));
        account.finish()
    }

    fn decide(self, mut used: impl FnMut(&Entry) -> Option<u64>) -> Account {
        let Self { mut account, .. } = self;
        for entry in account.book.entries.iter_mut().filter(|entry| entry.is_estimate()) {
            if let Some(used) = used(entry) {
                entry.decide(used);
            }
        }
        account
    }
}

impl AsRef<Pass> for Reservation {
    fn as_ref(&self) -> &Pass {
        &self.pass
    }
}

impl Account {
    fn estimates(&self) -> impl Iterator<Item = &Entry> {
        self.book.entries.iter().filter(|entry| entry.is_estimate())
    }

    fn check_amounts(&self, amounts: &[u64]) -> Result<(), StoreError> {
        if amounts.len() == self.estimates().count() {
            return Ok(());
        }
        Err(StoreError::misuse("more or fewer amounts than a reservation has estimates: give one for each"))
    }

    /// Dropped on its way, it is still open, and goes on without anybody who waits for it.
    async fn finish(mut self) -> Result<(), Unsettled> {
        if self.book.is_unknown() {
            // There is nothing to send: dropping it says so in the log.
            return Ok(());
        }
        match self.book.settle().await {
            Ok(()) => {
                self.is_open = false;
                Ok(())
            }
            Err(error) => Err(Unsettled { account: self, error }),
        }
    }
}

/// A reservation that could not be settled, because the store failed.
///
/// It keeps the reservation and what that came to. [`retry`](Self::retry) sends the same settlement under the same id, so it is applied
/// once even where the first was and only its answer was lost. Dropped, it is tried once more, as a dropped [`Reservation`] is.
#[derive(Debug)]
#[must_use = "dropped, it is tried once more without anybody who learns how that went"]
pub struct Unsettled {
    account: Account,
    error: StoreError,
}

impl Unsettled {
    /// Why it failed.
    #[must_use]
    pub const fn error(&self) -> &StoreError {
        &self.error
    }

    /// Tries again.
    ///
    /// # Errors
    /// If the store still could not.
    pub fn retry(self) -> impl Future<Output = Result<(), Self>> + Send + 'static {
        self.account.finish()
    }
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a reservation could not be settled: try again, or it may stay spent until its window ends",
        )
    }
}

impl Error for Unsettled {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
