//! `cargo xtask bench`: Tollgate beside its peers, measured in one run and printed as ratios; with `net`, over a network.

use crate::failure::{Result, failure};
use crate::{interop, process, services};

pub(crate) fn run(args: &[String]) -> Result {
    let mut command = process::cargo(&["run", "--release", "--package", "tollgate-bench", "--"]);
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["net"] => {
            services::bring()?;
            command.arg("net").arg(interop::packages()?);
        }
        _ => return Err(failure("`bench` takes `net` or nothing")),
    }
    process::become_command(&mut command)
}
