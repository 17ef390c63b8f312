//! `cargo xtask readme`: each published crate's README is the front page of its documentation.

mod links;
mod page;

use crate::failure::{Result, failure};
use crate::workspace::{Package, Workspace};

pub(crate) fn run(args: &[String]) -> Result {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => write(&Workspace::load()?),
        ["--check"] => check(&Workspace::load()?),
        _ => Err(failure("`readme` takes `--check` or nothing")),
    }
}

fn write(workspace: &Workspace) -> Result {
    for package in workspace.published() {
        let (wanted, path) = (readme(package)?, package.folder().join("README.md"));
        if std::fs::read_to_string(&path).is_ok_and(|found| found == wanted) {
            continue;
        }
        std::fs::write(&path, wanted)
            .map_err(|error| failure(format!("{} cannot be written: {error}", path.display())))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Fails when a README is not what [`write()`] would make of the sources as they are now.
pub(crate) fn check(workspace: &Workspace) -> Result {
    let mut stale = Vec::new();
    for package in workspace.published() {
        let found = std::fs::read_to_string(package.folder().join("README.md")).unwrap_or_default();
        if let Some(difference) = first_difference(&readme(package)?, &found) {
            println!("{}: {difference}", package.name);
            stale.push(package.name.as_str());
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(failure(format!("the README of {} is stale: run `cargo xtask readme`", stale.join(", "))))
}

fn readme(package: &Package) -> Result<String> {
    let lib = package.lib.as_ref().ok_or_else(|| {
        failure(format!(
            "{} is published and has no library whose front page could be its README",
            package.name
        ))
    })?;
    let source = std::fs::read_to_string(lib)
        .map_err(|error| failure(format!("{} cannot be read: {error}", lib.display())))?;
    page::render(&package.name, &package.license, &source)
        .ok_or_else(|| failure(format!("{} has no front page: open it with `//!`", lib.display())))
}

/// The first line that differs, as a reader needs it: what should be there and what is.
fn first_difference(wanted: &str, found: &str) -> Option<String> {
    if wanted == found {
        return None;
    }
    let lines = wanted.lines().count().max(found.lines().count());
    let line = |text: &str, index: usize| text.lines().nth(index).map(str::to_owned);
    let index = (0..lines).find(|&index| line(wanted, index) != line(found, index));
    Some(index.map_or("only the line ends differ".to_owned(), |index| {
        let shown = |text| line(text, index).unwrap_or_else(|| "(nothing)".to_owned());
        format!("line {} should be\n  + {}\nand is\n  - {}", index + 1, shown(wanted), shown(found))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        let difference = first_difference("a\nb\n", "a\nc\n").unwrap();
        assert_eq!(difference, "line 2 should be\n  + b\nand is\n  - c");
        assert!(first_difference("a\n", "").unwrap().contains("(nothing)"));
        assert!(first_difference("a\n", "a").is_some());
    }
}
