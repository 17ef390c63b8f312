//! What the tests have in common.

mod scripted;
mod served;
mod server;

use std::error::Error;

use tollgate_core::{Limit, Timestamp, Window};
use tollgate_store::{Charge, Decisions, Forget, Key, Name, Part, Store, StoreError, Take, Target};

pub(crate) use scripted::{Fate, Scripted};
pub(crate) use served::{Served, served};
pub(crate) use server::{Act, Received, Server};
pub(crate) use tollgate_testbed::TOKEN;

pub(crate) const LIMIT: Limit = Limit::fixed(15, Window::DAY);
pub(crate) const NOW: Timestamp = Timestamp::from_unix_ms(1_764_547_200_000);

/// Forgets the key of this part: the plainest call there is.
pub(crate) async fn forget(store: &impl Store, part: &str) -> Result<(), StoreError> {
    let parts = [Part::Text(part)];
    let target = Target { key: Key::new(Name::new("ask"), &parts), limit: LIMIT };
    store.forget(Forget { targets: &[target], now: NOW }).await
}

/// Takes one unit of the key of this part.
pub(crate) async fn take(store: &impl Store, part: &str) -> Result<Decisions, StoreError> {
    let parts = [Part::Text(part)];
    let charge = Charge::new(Key::new(Name::new("ask"), &parts), LIMIT);
    store.take(Take { charges: &[charge], now: NOW }).await
}

/// An error and all that it was caused by, as a log would have it.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let texts: Vec<String> = causes.map(|error| format!("{error} ({error:?})")).collect();
    texts.join(": ")
}
