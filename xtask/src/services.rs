//! The programs that tests start: found, installed where that is possible, or named with the command that installs them.

use std::fs;

use crate::failure::{Result, failure};
use crate::process;

/// A program that must be on PATH, and where it comes from.
struct Service {
    /// Any of these will do.
    programs: &'static [&'static str],
    /// The package that Debian and its kin have it in.
    package: &'static str,
    /// How macOS gets it.
    brew: &'static str,
}

const SERVICES: [Service; 1] =
    [Service { programs: &["redis-server"], package: "redis-server", brew: "redis" }];

/// Of one version, as Debian builds both from one source.
const BROWSER: [Service; 2] = [
    Service { programs: &["chromium", "google-chrome"], package: "chromium", brew: "--cask chromium" },
    Service { programs: &["chromedriver"], package: "chromium-driver", brew: "--cask chromedriver" },
];

/// Returns with every service on PATH, or says what to run.
pub(crate) fn bring() -> Result {
    SERVICES.iter().try_for_each(Service::bring)
}

/// Returns with a browser and what drives it on PATH, or says what to run.
pub(crate) fn bring_browser() -> Result {
    BROWSER.iter().try_for_each(Service::bring)
}

impl Service {
    fn bring(&self) -> Result {
        if self.is_there() {
            return Ok(());
        }
        if !may_install() {
            return Err(failure(self.how_to_install()));
        }
        println!("{} is not on PATH: installing it", self.program());
        self.install().map_err(|error| failure(format!("{error}; {}", self.how_to_install())))?;
        if self.is_there() { Ok(()) } else { Err(failure(self.how_to_install())) }
    }

    fn is_there(&self) -> bool {
        self.programs.iter().any(|program| process::answers(process::command(program).arg("--version")))
    }

    /// What it is called where nobody calls it otherwise.
    fn program(&self) -> &'static str {
        self.programs.first().copied().unwrap_or(self.package)
    }

    /// On some machines the installation also starts a server of its own. That harms no test: each has a port of its own.
    fn install(&self) -> Result {
        process::run(apt_get().arg("update"))?;
        process::run(apt_get().args(["install", "-y", "--no-install-recommends", self.package]))
    }

    fn how_to_install(&self) -> String {
        format!(
            "tests start `{}`, which is not on PATH: run `sudo apt-get install -y {}` (Debian, Ubuntu) or `brew install {}` \
             (macOS), then try again",
            self.program(),
            self.package,
            self.brew
        )
    }
}

fn apt_get() -> std::process::Command {
    let mut command = process::command("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Only root, and only where there is apt: nobody is asked for a password half way through a test run.
fn may_install() -> bool {
    let is_root = fs::read_to_string("/proc/self/status").is_ok_and(|status| is_root(&status));
    is_root && process::answers(process::command("apt-get").arg("--version"))
}

/// The line reads `Uid:`, then the real, effective, saved and file-system id.
fn is_root(status: &str) -> bool {
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    ids.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Service =
        Service { programs: &["no-such-program-here"], package: "no-such-package", brew: "no-such-formula" };

    #[test]
    fn a_missing_service_is_named_with_the_command_that_installs_it() {
        assert!(!NONE.is_there());
        let told = NONE.how_to_install();
        assert!(told.contains("`no-such-program-here`"), "{told}");
        assert!(told.contains("`sudo apt-get install -y no-such-package`"), "{told}");
        assert!(told.contains("`brew install no-such-formula`"), "{told}");
    }

    #[test]
    fn the_effective_user_counts() {
        assert!(is_root("Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t0\t0\t0\t0\n"));
        assert!(!is_root("Name:\tx\nUid:\t0\t1000\t0\t0\n"));
        assert!(!is_root("Name:\tx\n"));
    }
}
