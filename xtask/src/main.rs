//! The project's own tasks: `cargo xtask <task>`. One file a task.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks through both")]

mod bench;
mod ci;
mod demo;
mod docs;
mod e2e;
mod failure;
mod histories;
mod interop;
mod mutants;
mod npm;
mod process;
mod readme;
mod redis;
mod services;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use crate::failure::Result;

const HELP: &str = "\
cargo xtask <task>

  demo [--port N]      serve the demo site (3000 unless told otherwise, 0 picks a free port) in memory,
                       or with --redis in a Redis that keeps nothing
  redis                serve a Redis that keeps nothing, and Upstash's REST API in front of it
  test                 run every test and every documentation example
  ci                   everything that must hold before a change lands
  tidy                 the rules of the house that no compiler checks
  readme [--check]     write each crate's README from its front page, or say which are stale
  e2e [--screenshots]  use the demo's page in a real Chromium, and make the README's pictures of it
  interop              run Upstash's own clients against the gateway, and webhook senders' own signers against Tollgate
  histories [--steps N] [--seed N]
                       let random histories happen to each store and to the core, 100000 steps each unless told
                       otherwise, and say how many were answered the same
  bench [net]          print Tollgate beside its peers, as ratios: in memory, or over a network
  mutants [PACKAGE…]   change the code on purpose and demand that a test notices (slow; not part of ci)
  help                 this list
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result {
    let (task, rest) = args.split_first().map_or(("help", args), |(task, rest)| (task.as_str(), rest));
    match task {
        "demo" => demo::run(rest),
        "redis" => no_arguments(task, rest).and_then(|()| redis::run()),
        "e2e" => e2e::run(rest),
        "interop" => no_arguments(task, rest).and_then(|()| interop::run()),
        "test" => no_arguments(task, rest).and_then(|()| test::run()),
        "ci" => no_arguments(task, rest).and_then(|()| ci::run()),
        "tidy" => no_arguments(task, rest).and_then(|()| tidy::run()),
        "readme" => readme::run(rest),
        "histories" => histories::run(rest),
        "bench" => bench::run(rest),
        "mutants" => mutants::run(rest),
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(())
        }
        unknown => {
            Err(failure::failure(format!("there is no task `{unknown}`; `cargo xtask help` lists them")))
        }
    }
}

fn no_arguments(task: &str, rest: &[String]) -> Result {
    if rest.is_empty() { Ok(()) } else { Err(failure::failure(format!("`{task}` takes no arguments"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_task_and_a_stray_argument_are_refused() {
        for args in
            [&["tset"][..], &["tidy", "--fix"], &["ci", "now"], &["bench", "nte"], &["readme", "--chekc"]]
        {
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            assert!(dispatch(&args).is_err(), "{args:?} must be refused");
        }
    }
}
