//! `cargo xtask histories`: long random histories, answered by each store and by the core.
//!
//! The tests of each store have short ones. These are to be run after a change of the core, the scripts or a store, and say of
//! each store how many steps were answered the same, field by field.

use crate::failure::{Result, failure};
use crate::{process, services};

/// Memory, Redis and Upstash through the gateway, in every way of sending.
const HISTORIES: [&str; 9] = [
    "run",
    "--quiet",
    "--package",
    "tollgate-testbed",
    "--features",
    "gateway",
    "--example",
    "histories",
    "--",
];

/// What may be said, each with a number after it.
const NUMBERS: [&str; 2] = ["--steps", "--seed"];

pub(crate) fn run(args: &[String]) -> Result {
    check(args)?;
    services::bring()?;
    process::become_command(process::cargo(&HISTORIES).args(args))
}

/// Before anything is built: a build takes long enough to have forgotten what was typed.
fn check(args: &[String]) -> Result {
    for pair in args.chunks(2) {
        let is_number = pair.get(1).is_some_and(|number| number.parse::<u64>().is_ok());
        if !NUMBERS.contains(&pair[0].as_str()) || !is_number {
            return Err(failure(format!(
                "`histories` takes `--steps N` and `--seed N`, not `{}`",
                pair.join(" ")
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_taken() {
        let taken =
            |args: &[&str]| check(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>()).is_ok();
        for args in [&[][..], &["--steps", "100000"], &["--seed", "7", "--steps", "10"]] {
            assert!(taken(args), "{args:?}");
        }
        for args in [&["7"][..], &["--steps"], &["--steps", "many"], &["--step", "7"], &["--seed", "-1"]] {
            assert!(!taken(args), "{args:?}");
        }
    }
}
