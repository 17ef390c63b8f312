//! Waits until a request is admitted.

use tollgate_core::{Charging, Timestamp};
use tollgate_store::Store;

use crate::{Guard, Outcome, PolicyCharge};

impl<S: Store> Guard<S> {
    /// As [`Guard::check`], waiting while a limit refuses: until the request is admitted, or until it is clear that it will not be by
    /// `deadline`.
    ///
    /// Waits by `retry_at` and counts nothing meanwhile: charges that would count when refused are treated as
    /// [`Charging::IfAllowed`]. Several who wait for one key may wake together; those who come too late wait again. Must be used
    /// within a Tokio runtime with time enabled.
    pub async fn until_allowed(&self, charges: &[PolicyCharge<'_>], deadline: Timestamp) -> Outcome {
        let charges: Vec<_> = charges.iter().cloned().map(PolicyCharge::uncounted_when_refused).collect();
        loop {
            let outcome = self.check(&charges).await;
            let Outcome::Deny(refusal) = &outcome else { return outcome };
            match refusal.retry_at() {
                Some(retry_at) if retry_at <= deadline => self.sleep_until(retry_at).await,
                Some(_) | None => return outcome,
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "waiting is what this feature is for")]
    async fn sleep_until(&self, at: Timestamp) {
        // At least a millisecond, so that a clock that stands still is not asked in a tight loop.
        let after = at.since(self.now()).max(std::time::Duration::from_millis(1));
        tokio::time::sleep(after).await;
    }
}

impl PolicyCharge<'_> {
    fn uncounted_when_refused(self) -> Self {
        match self.own_charging() {
            Charging::Always => self.charging(Charging::IfAllowed),
            Charging::IfAllowed | Charging::Never => self,
        }
    }
}
