//! The limit on who sends what is not genuine.

use std::{future::Future, pin::Pin, sync::Arc};

use http::request;
use tollgate_guard::{Charges, Guard, PolicyCharge};
use tollgate_store::Store;

use crate::{Rejection, admit};

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type Charge = dyn Fn(&request::Parts) -> Result<Charges, Rejection> + Send + Sync;

/// A guard and what it is asked, whatever its store is.
pub(super) trait SourceLimit: Send + Sync {
    fn charges(&self, head: &request::Parts) -> Result<Charges, Rejection>;

    /// Whether the source may go on; writes nothing, and counts in no statistics.
    fn ask<'a>(&'a self, charges: &'a Charges) -> Later<'a, Result<(), Rejection>>;

    /// Counts what was not genuine.
    fn count<'a>(&'a self, charges: &'a Charges) -> Later<'a, ()>;
}

pub(super) struct Guarded<S> {
    pub(super) guard: Arc<Guard<S>>,
    pub(super) charge: Box<Charge>,
}

impl<S: Store> SourceLimit for Guarded<S> {
    fn charges(&self, head: &request::Parts) -> Result<Charges, Rejection> {
        (self.charge)(head)
    }

    fn ask<'a>(&'a self, charges: &'a Charges) -> Later<'a, Result<(), Rejection>> {
        Box::pin(async move {
            let charges = charges.borrowed();
            // A forgery could not be counted by an estimate, so no limit would ever be reached: it is the misuse here that it is there.
            let outcome = if charges.iter().any(PolicyCharge::is_estimate) {
                self.guard.check(&charges).await
            } else {
                self.guard.peek(&charges).await
            };
            admit(outcome, self.guard.now()).map(|_| ()).map_err(Rejection::from)
        })
    }

    fn count<'a>(&'a self, charges: &'a Charges) -> Later<'a, ()> {
        Box::pin(async move {
            // Whatever comes of it, the request is refused already; an outage is the guard's to log.
            let _ = self.guard.check(&charges.borrowed()).await;
        })
    }
}
