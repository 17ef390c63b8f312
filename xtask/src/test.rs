//! `cargo xtask test`: every test of the workspace, then every documentation example.
//!
//! What tests need beside a compiler is looked for by [`run`] before the first test, and its absence is a
//! failure that names the command to install it.

use crate::failure::Result;
use crate::{process, services};

/// All packages and all features: nothing is left out.
const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

pub(crate) fn run() -> Result {
    services::require_redis_server()?;
    if process::answers(&mut process::cargo(&["nextest", "--version"])) {
        process::run(process::cargo(&["nextest", "run"]).args(EVERYTHING))?;
    } else {
        let kinds = ["--lib", "--bins", "--tests", "--examples"];
        process::run(process::cargo(&["test"]).args(EVERYTHING).args(kinds))?;
    }
    process::run(process::cargo(&["test"]).args(EVERYTHING).arg("--doc"))
}
