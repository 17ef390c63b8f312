//! `cargo xtask demo`: the demo site, served until Ctrl-C.

use crate::failure::Result;
use crate::{process, redis, services};

/// Counts in a Redis that keeps nothing, through the gateway, and not in memory.
const REDIS: &str = "--redis";

const DEMO: [&str; 5] = ["run", "--quiet", "--package", "tollgate-demo", "--"];

/// There is one server, so it does what webhooks leave to do as well.
const JOBS: &str = "--jobs";

/// Other arguments go to the demo as they are.
pub(crate) fn run(args: &[String]) -> Result {
    let others = args.iter().filter(|arg| *arg != REDIS);
    if !args.iter().any(|arg| arg == REDIS) {
        return process::become_command(process::cargo(&DEMO).args(others));
    }
    services::bring()?;
    let mut command = process::cargo(&redis::THROWAWAY);
    command.arg("--").arg(process::cargo(&[]).get_program()).args(DEMO).arg(JOBS).args(others);
    process::become_command(&mut command)
}
