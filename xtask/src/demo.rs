//! `cargo xtask demo`: the demo site, served until Ctrl-C.

use crate::failure::Result;
use crate::process;

/// Arguments go to the demo as they are.
pub(crate) fn run(args: &[String]) -> Result {
    let mut command = process::cargo(&["run", "--quiet", "--package", "tollgate-demo", "--"]);
    process::become_command(command.args(args))
}
