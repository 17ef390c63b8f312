//! Packages for Node.js, in the versions that a lock file names, installed under the target folder.

use std::path::{Path, PathBuf};

use crate::failure::{Result, failure};
use crate::process;
use crate::workspace::{self, Workspace};

/// A program, the oldest version that will do, and where it comes from.
pub(crate) type Tool = (&'static str, u32, u32, &'static str);

const TOOLS: [Tool; 2] = [
    ("node", 20, 0, "Node.js 20 or newer is needed: https://nodejs.org/en/download"),
    ("npm", 10, 0, "npm 10 or newer is needed: it comes with Node.js"),
];

/// Copies a folder of the repository to `name` under the target folder and installs there what its lock file says.
pub(crate) fn install(folder: &str, name: &str) -> Result<PathBuf> {
    needs(&TOOLS)?;
    let into = copied(folder, &Workspace::load()?.target.join(name))?;
    let mut install = process::command("npm");
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]);
    process::run(install.current_dir(&into))?;
    Ok(into)
}

/// Fails unless each of these is there and new enough.
pub(crate) fn needs(tools: &[Tool]) -> Result {
    for &(program, major, minor, advice) in tools {
        let answer = process::read(process::command(program).arg("--version")).unwrap_or_default();
        if version(&answer).is_none_or(|found| found < (major, minor)) {
            return Err(failure(format!("`{program}` is missing or too old. {advice}")));
        }
    }
    Ok(())
}

/// The first two numbers in what a program says of itself: `v20.20.2`, `Python 3.11.7`.
fn version(answer: &str) -> Option<(u32, u32)> {
    let numbers = answer.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut numbers = numbers.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Packages are installed beside their lock file, so that is copied to where it does no harm.
fn copied(folder: &str, into: &Path) -> Result<PathBuf> {
    let copy = || {
        std::fs::create_dir_all(into)?;
        for entry in std::fs::read_dir(workspace::root().join(folder))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), into.join(entry.file_name()))?;
            }
        }
        Ok(())
    };
    copy().map_err(|error: std::io::Error| {
        failure(format!("{folder} cannot be copied to {}: {error}", into.display()))
    })?;
    Ok(into.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (answer, expected) in [
            ("v20.20.2\n", Some((20, 20))),
            ("11.19.1", Some((11, 19))),
            ("Python 3.11.7", Some((3, 11))),
            ("", None),
            ("none", None),
        ] {
            assert_eq!(version(answer), expected, "{answer}");
        }
        assert!((3, 9) < (3, 11) && (9, 9) < (20, 0));
    }
}
