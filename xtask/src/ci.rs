//! `cargo xtask ci`: everything that must hold before a change lands, quick checks first.

use std::time::{Duration, Instant};

use crate::failure::{Result, failure};
use crate::workspace::Workspace;
use crate::{docs, e2e, interop, process, readme, test, tidy, tools};

/// A name and what it runs.
type Step = (&'static str, fn(&Workspace) -> Result);

const STEPS: [Step; 10] = [
    ("fmt", |_| fmt()),
    ("tidy", |_| tidy::run()),
    ("readme", readme::check),
    ("clippy", |_| clippy()),
    ("test", |_| test::run()),
    ("interop", |_| interop::run()),
    ("e2e", |_| e2e::run(&[])),
    ("docs", |_| docs::run()),
    ("each-feature", each_feature),
    ("deny", deny),
];

/// Stops at the first step that fails: the ones after it would mostly repeat its message.
pub(crate) fn run() -> Result {
    let workspace = Workspace::load()?;
    let mut summary = String::new();
    let mut total = Duration::ZERO;
    for (name, step) in STEPS {
        println!("\n== {name}");
        let (outcome, took) = timed(|| step(&workspace));
        total += took;
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("== {name}: {word} after {:.1} s", took.as_secs_f64());
        summary += &format!("  {name:<13} {word:<7} {:>7.1} s\n", took.as_secs_f64());
        if let Err(error) = outcome {
            println!("\n{summary}");
            return Err(failure(format!("the step `{name}` failed: {error}")));
        }
    }
    println!("\n{summary}  {:<13} {:<7} {:>7.1} s", "all", "ok", total.as_secs_f64());
    Ok(())
}

fn fmt() -> Result {
    tools::require_component("fmt", "rustfmt")?;
    process::run(&mut process::cargo(&["fmt", "--all", "--check"]))
        .map_err(|error| failure(format!("{error}; `cargo fmt --all` mends it")))
}

fn clippy() -> Result {
    tools::require_component("clippy", "clippy")?;
    let args = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    process::run(&mut process::cargo(&args))
}

/// Each published crate with no feature, with each feature alone and with all: what a user may choose must
/// compile without a warning. Clippy rather than `check`, because it shares its builds with the step above.
fn each_feature(workspace: &Workspace) -> Result {
    let mut command = tools::HACK.command(workspace)?;
    command.args(["clippy", "--workspace", "--ignore-private", "--each-feature", "--", "-D", "warnings"]);
    process::run(&mut command)
}

/// Advisories are left out: they change without us, and asking for them needs a network beyond the registry.
fn deny(workspace: &Workspace) -> Result {
    process::run(tools::DENY.command(workspace)?.args(["check", "bans", "licenses", "sources"]))
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a step took is for the reader; nothing is decided by it"
)]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed())
}
