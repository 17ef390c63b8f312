//! The documentation of every crate, private links and broken links refused.

use crate::failure::Result;
use crate::process;

pub(crate) fn run() -> Result {
    let mut command = process::cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}
