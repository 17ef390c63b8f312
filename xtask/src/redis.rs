//! `cargo xtask redis`: a Redis that keeps nothing, with Upstash's REST API in front of it, until Ctrl-C.

use crate::failure::Result;
use crate::{process, services};

/// Starts both, prints the environment of their clients, and stops both at the end.
pub(crate) const THROWAWAY: [&str; 6] =
    ["run", "--quiet", "--package", "tollgate-gateway", "--example", "throwaway"];

pub(crate) fn run() -> Result {
    services::bring()?;
    process::become_command(&mut process::cargo(&THROWAWAY))
}
