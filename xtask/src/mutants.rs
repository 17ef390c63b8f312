//! `cargo xtask mutants`: changes the code on purpose and demands that a test notices each change.

use std::collections::BTreeMap;

use crate::failure::{Result, failure};
use crate::workspace::Workspace;
use crate::{process, tools, workspace};

/// Where a wrong operator costs somebody money or lets somebody in.
const PACKAGES: [&str; 2] = ["tollgate-core", "tollgate-visitor"];

/// Changes that no test can notice, a line each, with the reason.
const SURVIVORS: &str = ".cargo/mutants-survivors.txt";

pub(crate) fn run(args: &[String]) -> Result {
    if let Some(flag) = args.iter().find(|arg| arg.starts_with('-')) {
        return Err(failure(format!("`mutants` takes package names, not `{flag}`")));
    }
    let packages: Vec<&str> =
        if args.is_empty() { PACKAGES.to_vec() } else { args.iter().map(String::as_str).collect() };
    let workspace = Workspace::load()?;
    let missed = missed(&workspace, &packages)?;
    let listed = std::fs::read_to_string(workspace::root().join(SURVIVORS))
        .map_err(|error| failure(format!("{SURVIVORS} cannot be read: {error}")))?;
    let listed = parse(&listed)?.into_iter().filter(|mutant| is_of(mutant, &packages));
    let problems = compare(missed.lines().map(without_position), listed);
    if problems.is_empty() {
        return Ok(());
    }
    for problem in &problems {
        println!("{problem}");
    }
    Err(failure(format!("the survivors differ from those in {SURVIVORS}")))
}

/// Runs the tool over the packages and returns what it calls missed, a mutant a line.
fn missed(workspace: &Workspace, packages: &[&str]) -> Result<String> {
    let output = workspace.target.join("mutants");
    let missed = output.join("mutants.out/missed.txt");
    let mut command = tools::MUTANTS.command(workspace)?;
    for package in packages {
        command.args(["--package", package]);
    }
    // What an earlier run left would be read as this one's if the tool stopped before writing anything.
    drop(std::fs::remove_dir_all(&output));
    std::fs::create_dir_all(&output)
        .map_err(|error| failure(format!("{} cannot be made: {error}", output.display())))?;
    command.args(["--all-features", "--output"]).arg(output).args(["--", "--lib", "--tests"]);
    // Examples in the documentation cost a link each and notice nothing that tests do not; what a failing property shrinks to is
    // read by nobody here.
    command.envs([("CARGO_PROFILE_DEV_DEBUG", "0"), ("PROPTEST_MAX_SHRINK_ITERS", "0")]);
    println!("$ {}", process::shown(&command));
    let status = command
        .status()
        .map_err(|error| failure(format!("`{}` could not be started: {error}", process::shown(&command))))?;
    // 2: some survived; 3: some ran into the time limit, which is how a test notices an endless loop.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(failure(format!("`{}` failed ({status})", process::shown(&command))));
    }
    std::fs::read_to_string(&missed)
        .map_err(|error| failure(format!("{} cannot be read: {error}", missed.display())))
}

/// `path:line:column: what` without the numbers, which move with every edit above them.
fn without_position(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(path), Some(line), Some(column), Some(what)) if is_number(line) && is_number(column) => {
            format!("{path}:{what}")
        }
        _ => mutant.to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Lines are `mutant  # reason`; a line that starts with `#` is a comment.
fn parse(listed: &str) -> Result<Vec<String>> {
    let lines = listed.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.rsplit_once("  # ") {
            Some((mutant, reason)) if !reason.trim().is_empty() => Ok(without_position(mutant.trim())),
            _ => Err(failure(format!(
                "{SURVIVORS}: a line is `mutant  # reason`, and this one is not:\n{line}"
            ))),
        })
        .collect()
}

fn is_of(mutant: &str, packages: &[&str]) -> bool {
    packages.iter().any(|package| mutant.starts_with(&format!("crates/{package}/")))
}

/// Two mutants may read the same without their positions, so they are counted.
fn compare(found: impl Iterator<Item = String>, listed: impl Iterator<Item = String>) -> Vec<String> {
    let mut balance = BTreeMap::<String, isize>::new();
    for mutant in found {
        *balance.entry(mutant).or_default() += 1;
    }
    for mutant in listed {
        *balance.entry(mutant).or_default() -= 1;
    }
    let differing = balance.into_iter().filter(|&(_, difference)| difference != 0);
    differing
        .map(|(mutant, difference)| {
            let what = if difference > 0 {
                "survives and is not listed"
            } else {
                "is listed and no longer survives"
            };
            format!("{what} ({}×): {mutant}", difference.unsigned_abs())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUTANT: &str = "crates/tollgate-core/src/limit.rs:12:5: replace < with <= in Limit::step";
    const PLAIN: &str = "crates/tollgate-core/src/limit.rs: replace < with <= in Limit::step";

    fn differences(found: &[&str], listed: &str) -> Vec<String> {
        compare(found.iter().map(|mutant| without_position(mutant)), parse(listed).unwrap().into_iter())
    }

    #[test]
    fn positions_do_not_matter() {
        assert_eq!(without_position(MUTANT), PLAIN);
        assert_eq!(without_position(PLAIN), PLAIN);
        let moved = "crates/tollgate-core/src/limit.rs:99:1: replace < with <= in Limit::step";
        assert!(differences(&[moved], &format!("{MUTANT}  # the same either way\n")).is_empty());
    }

    #[test]
    fn a_survivor_must_be_listed_and_a_listed_one_must_survive() {
        let listed = format!("# Survivors.\n\n{PLAIN}  # the same either way\n");
        assert!(differences(&[MUTANT], &listed).is_empty());
        assert!(differences(&[MUTANT], "")[0].starts_with("survives and is not listed (1×)"));
        assert!(differences(&[MUTANT, MUTANT], &listed)[0].starts_with("survives and is not listed (1×)"));
        assert!(differences(&[], &listed)[0].starts_with("is listed and no longer survives (1×)"));
    }

    #[test]
    fn a_survivor_has_a_reason() {
        assert!(parse(PLAIN).is_err());
        assert!(parse(&format!("{PLAIN}  # ")).is_err());
        assert_eq!(
            parse("a.rs: replace \"  # \" with \"\"  # why\n").unwrap(),
            ["a.rs: replace \"  # \" with \"\""]
        );
    }

    #[test]
    fn a_package_is_not_its_neighbour() {
        assert!(is_of(PLAIN, &["tollgate-core"]));
        assert!(!is_of(PLAIN, &["tollgate-visitor", "tollgate"]));
    }

    #[test]
    fn the_committed_list_reads() {
        let listed = std::fs::read_to_string(workspace::root().join(SURVIVORS)).unwrap();
        parse(&listed).unwrap();
    }
}
