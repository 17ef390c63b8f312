//! One delivery that is being processed.

use std::{
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    task::{Context, Waker},
};

use tollgate_store::{Hold, StoreError};

use crate::{DeliveryId, DeliveryTicket, deliveries::Task, held::Held};

/// A delivery that is this request's to process: confirm it when the work is done, release it when it is not.
///
/// Dropped without either, by a panic or because the request was cancelled, it is released: by the
/// [`spawner`](crate::DeliveriesBuilder::spawner) in the background, if the deliveries were given one; without, at once where the store
/// answers at once, as in memory. Else its lease has to run out, and a warning is logged.
#[must_use = "dropped, a delivery is released: confirm it when the work is done"]
pub struct Delivery {
    held: Held,
    left: Left,
}

/// What is left to do with the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Release,
    Confirm,
    Nothing,
}

impl Delivery {
    pub(crate) const fn new(held: Held) -> Self {
        Self { held, left: Left::Release }
    }

    /// The hook or project it is for.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.held.place.scope
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &DeliveryId {
        &self.held.place.id
    }

    /// Whether it was known to be the first when it arrived: not if the store could not tell and it is processed anyway.
    #[must_use]
    pub const fn is_claimed(&self) -> bool {
        self.held.is_claimed
    }

    /// The work is done: from now on the id is a duplicate.
    ///
    /// [`Hold::Lost`] says that the lease had run out, so another request may have done the work too. A delivery that was processed although
    /// the store could not tell is claimed first, if it can be by now.
    ///
    /// That it is done counts from the call on, even if the future is dropped on its way or before it was polled: then it goes on as a
    /// dropped delivery does.
    ///
    /// # Errors
    /// If the store could not. It is tried once more as when a delivery is dropped. If that fails too, the id is processed again, should
    /// it arrive after the lease.
    pub fn confirm(mut self) -> impl Future<Output = Result<Hold, StoreError>> + Send + 'static {
        // Dropped half way, or failed, it is to be confirmed still.
        self.left = Left::Confirm;
        async move {
            // All of it, so that it is one value that is dropped and told what is left to do.
            let mut delivery = self;
            let hold = delivery.held.confirm().await?;
            delivery.left = Left::Nothing;
            Ok(hold)
        }
    }

    /// The work is not done: the next delivery of the id is processed.
    ///
    /// # Errors
    /// If the store could not. It is tried once more as when a delivery is dropped. If that fails too, the id is free once the lease has
    /// run out.
    pub async fn release(mut self) -> Result<(), StoreError> {
        self.held.release().await?;
        self.left = Left::Nothing;
        Ok(())
    }

    /// The work takes longer: holds the claim for another lease from now on.
    ///
    /// [`Hold::Lost`] says that the lease had run out: stop, if the work must not be done twice. A delivery that is processed although the
    /// store could not tell is claimed first, if it can be by now; lost is then what another has claimed or done.
    ///
    /// # Errors
    /// If the store could not; the lease goes on as it was.
    pub async fn renew(&self) -> Result<Hold, StoreError> {
        self.held.renew().await
    }

    /// What another process needs to go on with it: see [`Deliveries::take_over`](crate::Deliveries::take_over). Whoever takes it over
    /// confirms or releases it; this value still does too.
    #[must_use]
    pub fn ticket(&self) -> DeliveryTicket {
        self.held.ticket()
    }

    /// Gives it to another process: nothing is done when this value is dropped.
    ///
    /// Call it before the ticket is queued, so that nothing that happens in between releases what a worker has begun. If it cannot be
    /// queued, [`Deliveries::take_over`](crate::Deliveries::take_over) takes it back.
    #[must_use = "what is not taken over is held until its lease ends"]
    pub fn hand_over(self) -> DeliveryTicket {
        let ticket = self.ticket();
        self.forget();
        ticket
    }

    pub(crate) fn forget(mut self) {
        self.left = Left::Nothing;
    }

    pub(crate) const fn held(&self) -> &Held {
        &self.held
    }

    /// The same, of which it is not known whether it is the first.
    pub(crate) fn unclaimed(mut self) -> Self {
        self.held.is_claimed = false;
        self
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if self.left == Left::Nothing {
            return;
        }
        let why = match self.held.shared.spawner {
            Some(_) => "its task was dropped",
            None => "the deliveries have no spawner: give their builder one",
        };
        let unattended = Unattended { held: self.held.clone(), left: self.left, why };
        // A second panic while one unwinds would end the process, and a runtime that has ended takes no task. Either drops the task,
        // which tells the log.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let task: Task = Box::pin(unattended.run());
            match &self.held.shared.spawner {
                Some(spawner) => spawner(task),
                None => at_once(task),
            }
        }));
    }
}

/// What is left to do when nobody waits for it. Tells the log if it fails, or never ran to its end.
struct Unattended {
    held: Held,
    left: Left,
    why: &'static str,
}

impl Unattended {
    async fn run(mut self) {
        let done = match self.left {
            Left::Confirm => self.held.confirm().await.map(|_| ()),
            Left::Release => self.held.release().await,
            Left::Nothing => Ok(()),
        };
        self.left = Left::Nothing;
        if let Err(error) = done {
            let error = &error as &dyn Error;
            tracing::warn!(error, id = %self.held.place.id, "a dropped delivery is held until its lease ends");
        }
    }
}

impl Drop for Unattended {
    fn drop(&mut self) {
        if self.left != Left::Nothing {
            let (id, why) = (&self.held.place.id, self.why);
            tracing::warn!(%id, why, "a dropped delivery is held until its lease ends");
        }
    }
}

/// Runs a task as far as it goes without waiting for anything: to its end, with a store in memory.
fn at_once(mut task: Task) {
    let _ = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// Without the token.
impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("scope", &self.scope())
            .field("id", &self.id())
            .field("is_claimed", &self.is_claimed())
            .finish_non_exhaustive()
    }
}
