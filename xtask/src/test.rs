//! `cargo xtask test`: every test of the workspace, then every documentation example.
//!
//! What tests need beside a compiler is brought before the first of them, and its absence is a failure that names the command
//! to install it: see `services.rs`. Tests start their servers themselves, each its own.

use crate::failure::Result;
use crate::{e2e, process, services};

/// All packages and all features; what needs a browser is a task of its own.
const EVERYTHING: [&str; 4] = ["--workspace", "--exclude", e2e::PACKAGE, "--all-features"];

pub(crate) fn run() -> Result {
    services::bring()?;
    if process::answers(&mut process::cargo(&["nextest", "--version"])) {
        process::run(process::cargo(&["nextest", "run"]).args(EVERYTHING))?;
    } else {
        let kinds = ["--lib", "--bins", "--tests", "--examples"];
        process::run(process::cargo(&["test"]).args(EVERYTHING).args(kinds))?;
    }
    process::run(process::cargo(&["test"]).args(EVERYTHING).arg("--doc"))
}
