//! Over a network: the stores beside what their users would otherwise call, on a Redis and a gateway of this run's own.
//!
//! All callers share one thread and the gateway has another, as a service and its gateway have on two machines; `redis-server`
//! is a process of its own. The two sides of a row take turns for [`ROUNDS`](crate::measure::ROUNDS) rounds.

mod gateway;
mod load;
mod native;
mod official;
mod outage;
mod rest;
mod rig;
mod row;
mod script;

use std::{error::Error, path::Path};

pub use row::{Goal, Row};

use crate::net::rig::Rig;

/// Why there is no figure.
pub type Failure = Box<dyn Error + Send + Sync>;

/// A part of the table, by name.
type Part = (&'static str, fn(&Rig, &Path, &mut dyn FnMut(&Row)) -> Result<(), Failure>);

const PARTS: [Part; 6] = [
    ("rest", |rig, _, show| rest::rows(rig, show)),
    ("official", official::rows),
    ("native", |rig, _, show| native::rows(rig, show)),
    ("outage", |rig, _, show| outage::rows(rig, show)),
    ("gateway", |rig, _, show| gateway::rows(rig, show)),
    ("script", |rig, _, show| script::rows(rig, show)),
];

/// Measures every row, or those of the named parts, and hands each to `show` as soon as it is known. Upstash's own packages are
/// in `node_modules` of the folder.
///
/// # Errors
/// If there is no part of that name, a server does not start, or a call of any side fails: figures of failed calls would say
/// nothing.
pub fn measure(packages: &Path, only: &[String], show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    if let Some(unknown) = only.iter().find(|name| PARTS.iter().all(|(part, _)| part != name)) {
        let parts = PARTS.map(|(part, _)| part).join(", ");
        return Err(format!("there is no part {unknown:?}: the parts are {parts}").into());
    }
    let rig = Rig::start()?;
    for (name, rows) in PARTS {
        if only.is_empty() || only.iter().any(|part| part == name) {
            rows(&rig, packages, show)?;
        }
    }
    Ok(())
}
