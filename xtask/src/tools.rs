//! The tools that checks need beyond Rust's own: each of one version, built once under the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Result, failure};
use crate::process;
use crate::workspace::Workspace;

pub(crate) struct Tool {
    /// The subcommand; the package and the program are both `cargo-<subcommand>`.
    subcommand: &'static str,
    version: &'static str,
}

pub(crate) const DENY: Tool = Tool { subcommand: "deny", version: "0.20.2" };
pub(crate) const HACK: Tool = Tool { subcommand: "hack", version: "0.6.46" };
pub(crate) const MUTANTS: Tool = Tool { subcommand: "mutants", version: "27.1.0" };

/// They run for seconds and are built on every fresh machine, so the build is what has to be short. Their own
/// profiles ask for whole-program optimisation: without it cargo-deny builds in a third of the processor time.
const QUICK_BUILD: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "256"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
];

impl Tool {
    /// A command that runs this tool, in exactly this version: one found on the machine, or one built now.
    pub(crate) fn command(&self, workspace: &Workspace) -> Result<Command> {
        let root = workspace.target.join("tools");
        let program = format!("cargo-{}", self.subcommand);
        let ours = root.join("bin").join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
        let found = [ours.clone(), PathBuf::from(&program)].into_iter().find(|place| self.is_at(place));
        let place = match found {
            Some(place) => place,
            None => {
                self.install(&program, &root)?;
                ours
            }
        };
        let mut command = process::command(place);
        command.arg(self.subcommand);
        Ok(command)
    }

    fn install(&self, program: &str, root: &Path) -> Result {
        let build = root.join("build");
        let mut install =
            process::cargo(&["install", program, "--version", self.version, "--locked", "--force"]);
        install.arg("--root").arg(root).arg("--target-dir").arg(&build).envs(QUICK_BUILD);
        process::run(&mut install).map_err(|error| {
            failure(format!("{program} {} is needed and could not be installed: {error}", self.version))
        })?;
        // What is left is worth hundreds of megabytes and is never read again; failing to remove it harms nothing.
        drop(std::fs::remove_dir_all(build));
        Ok(())
    }

    fn is_at(&self, program: &Path) -> bool {
        let mut question = process::command(program);
        process::read(question.args([self.subcommand, "--version"])).is_ok_and(|answer| self.is_in(&answer))
    }

    /// The answer reads `cargo-deny 0.20.2`.
    fn is_in(&self, answer: &str) -> bool {
        answer.split_whitespace().any(|word| word == self.version)
    }
}

/// A component of the Rust toolchain that some installations leave out.
pub(crate) fn require_component(subcommand: &str, component: &str) -> Result {
    if process::answers(&mut process::cargo(&[subcommand, "--version"])) {
        return Ok(());
    }
    Err(failure(format!(
        "`cargo {subcommand}` is missing: install it with `rustup component add {component}`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_version_will_do() {
        assert!(DENY.is_in("cargo-deny 0.20.2\n"));
        for answer in ["cargo-deny 0.20.1", "cargo-deny 0.20.20", "cargo-deny 0.20.2-rc1", ""] {
            assert!(!DENY.is_in(answer), "{answer}");
        }
        assert!(!DENY.is_at("no-such-program-here".as_ref()));
    }
}
