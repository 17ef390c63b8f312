//! `cargo xtask test`: every test of the workspace, then every documentation example.
//!
//! What tests need beside a compiler is started by [`run`] before the first test, and its absence is a
//! failure that names the command to install it. Today they need nothing.

use crate::failure::Result;
use crate::process;

/// The one package without tests: building it costs minutes, and `clippy` already compiles it.
const LEFT_OUT: &str = "tollgate-bench";

pub(crate) fn run() -> Result {
    println!("{LEFT_OUT} is left out: it measures, and has no tests");
    let common = ["--workspace", "--all-features", "--exclude", LEFT_OUT];
    if process::answers(&mut process::cargo(&["nextest", "--version"])) {
        process::run(process::cargo(&["nextest", "run"]).args(common))?;
    } else {
        let kinds = ["--lib", "--bins", "--tests", "--examples"];
        process::run(process::cargo(&["test"]).args(common).args(kinds))?;
    }
    process::run(process::cargo(&["test"]).args(common).arg("--doc"))
}
