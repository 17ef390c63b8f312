//! What the tests have in common.

mod scripted;
mod served;
mod server;

use std::error::Error;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tollgate_core::{Limit, Timestamp, Window};
use tollgate_script::{Dialect, Script};
use tollgate_store::{Charge, Decisions, Forget, Key, Name, Part, Store, StoreError, Take, Target};

pub(crate) use scripted::{Fate, Scripted};
pub(crate) use served::{Served, served};
pub(crate) use server::{Act, Received, Server};
pub(crate) use tollgate_testbed::TOKEN;

pub(crate) const LIMIT: Limit = Limit::fixed(15, Window::DAY);
pub(crate) const NOW: Timestamp = Timestamp::from_unix_ms(1_764_547_200_000);

/// What a server says to a command that concerns keys nobody has touched before: to a take of [`LIMIT`], alone or with others, and
/// to anything else.
pub(crate) fn untouched(command: &Value) -> Value {
    let is = |script: Script| command[1] == script.sha1(Dialect::Upstash);
    if !is(Script::Take) && !is(Script::TakeMany) {
        return json!({ "result": 1 });
    }
    // A take names three windows, and one key is what is remembered.
    let takes = (command[2].as_u64().unwrap() - 1) / 3;
    let answers = vec!["3 - 0 0"; usize::try_from(takes).unwrap()];
    json!({ "result": STANDARD.encode(answers.join("\n")) })
}

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
