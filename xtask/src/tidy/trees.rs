//! How much a user's dependency tree grows.

use std::collections::BTreeSet;

use super::Problems;
use crate::failure::Result;
use crate::process;
use crate::workspace::Workspace;

/// How many crates of others the front door may bring, with its default features.
const MOST_THIRD_PARTY: usize = 35;

/// One line a package and nothing shortened: what `sort -u` and a line count can work on.
const TREE: [&str; 6] = ["tree", "--edges", "normal", "--prefix", "none", "--no-dedupe"];

pub(super) fn problems(workspace: &Workspace) -> Result<Problems> {
    let core = tree("tollgate-core")?;
    let front_door = tree("tollgate")?;
    let front_door = third_party(&front_door, workspace);
    println!(
        "tollgate brings {} third-party crates with its default features (at most {MOST_THIRD_PARTY}); list them with\n  \
         cargo {} --package tollgate | grep -v '^tollgate' | sort -u",
        front_door.len(),
        TREE.join(" ")
    );
    Ok([alone(&core), few(&front_door)].into_iter().flatten().collect())
}

fn tree(package: &str) -> Result<String> {
    process::read(process::cargo(&TREE).args(["--package", package]))
}

fn alone(core: &str) -> Option<String> {
    let lines = core.lines().count();
    (lines != 1).then(|| {
        format!("tollgate-core must depend on nothing, but `cargo tree -p tollgate-core -e normal` has {lines} lines")
    })
}

/// Lines read `name v1.2.3`, with a path for the workspace's own packages and `(proc-macro)` for macros.
fn third_party<'a>(tree: &'a str, workspace: &Workspace) -> BTreeSet<&'a str> {
    let ours = |line: &str| {
        let name = line.split(' ').next();
        workspace.packages.iter().any(|package| Some(package.name.as_str()) == name)
    };
    tree.lines().filter(|line| !line.is_empty() && !ours(line)).collect()
}

fn few(front_door: &BTreeSet<&str>) -> Option<String> {
    let count = front_door.len();
    (count > MOST_THIRD_PARTY).then(|| {
        format!("tollgate brings {count} third-party crates by default, more than {MOST_THIRD_PARTY}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_has_no_second_line() {
        assert!(alone("tollgate-core v0.1.0 (/home)\n").is_none());
        assert!(alone("tollgate-core v0.1.0 (/home)\nserde v1.0.0\n").is_some());
        assert!(alone("").is_some());
    }

    #[test]
    fn a_crate_counts_once_and_ours_do_not() {
        let workspace = Workspace::load().unwrap();
        let tree = "tollgate v0.1.0 (/home)\nhttp v1.0.0\nbytes v1.0.0\nbytes v1.0.0\ntollgate-core v0.1.0 (/home)\n";
        assert_eq!(third_party(tree, &workspace).len(), 2);
    }

    #[test]
    fn the_most_is_allowed_and_one_more_is_not() {
        let names: Vec<String> = (0..=MOST_THIRD_PARTY).map(|n| format!("crate-{n} v1.0.0")).collect();
        let set: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        assert!(few(&set).is_some());
        assert!(few(&set.into_iter().skip(1).collect()).is_none());
    }
}
