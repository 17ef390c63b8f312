//! Servers that tasks need beside a compiler: found, or installed where that is possible without asking.

use crate::failure::{Result, failure};
use crate::process;

const INSTALL: [&str; 4] = ["apt-get", "install", "-y", "redis-server"];

/// Sees to it that `redis-server` is there. As root on Debian it is installed; elsewhere the error is the command.
pub(crate) fn require_redis_server() -> Result {
    let is_there = || process::answers(process::command("redis-server").arg("--version"));
    if is_there() {
        return Ok(());
    }
    let is_root = process::read(process::command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let has_apt = process::answers(process::command(INSTALL[0]).arg("--version"));
    if is_root && has_apt {
        let mut install = process::command(INSTALL[0]);
        // The service that the package starts is of no use here; without it the machine stays as it was.
        install.args(&INSTALL[1..]).env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
        process::run(&mut install)?;
        if is_there() {
            return Ok(());
        }
    }
    Err(failure(format!(
        "`redis-server` is needed and is not on PATH: install it with `sudo {}`, or as your system does",
        INSTALL.join(" ")
    )))
}
