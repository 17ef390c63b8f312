//! `cargo xtask bench`: Tollgate beside its peers, measured in one run and printed as ratios.

use crate::failure::Result;
use crate::process;

/// Arguments go to the bench as they are.
pub(crate) fn run(args: &[String]) -> Result {
    let mut command = process::cargo(&["run", "--release", "--package", "tollgate-bench", "--"]);
    process::become_command(command.args(args))
}
