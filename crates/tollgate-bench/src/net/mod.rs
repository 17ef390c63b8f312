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

/// Measures every row and hands each to `show` as soon as it is known. Upstash's own packages are in `node_modules` of the folder.
///
/// # Errors
/// If a server does not start, or a call of any side fails: figures of failed calls would say nothing.
pub fn measure(packages: &Path, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    let rig = Rig::start()?;
    rest::rows(&rig, show)?;
    official::rows(&rig, packages, show)?;
    native::rows(&rig, show)?;
    outage::rows(&rig, show)?;
    gateway::rows(&rig, show)?;
    script::rows(&rig, show)
}
