//! `cargo xtask bench`: Tollgate beside its peers, measured in one run and printed as ratios; with `net`, over a network,
//! and with names behind it, only those parts of the table.

use crate::failure::{Result, failure};
use crate::{interop, process, services};

pub(crate) fn run(args: &[String]) -> Result {
    let mut command = process::cargo(&["run", "--release", "--package", "tollgate-bench", "--"]);
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["net", ref parts @ ..] => {
            services::bring()?;
            command.arg("net").arg(interop::packages()?).args(parts);
        }
        _ => return Err(failure("`bench` takes nothing, or `net` and perhaps names of parts")),
    }
    process::become_command(&mut command)
}
