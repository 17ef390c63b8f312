//! What each `Cargo.toml` takes from the workspace.

use super::Problems;
use crate::failure::{Result, failure};
use crate::workspace::Package;

pub(super) fn problems(packages: &[Package]) -> Result<Problems> {
    let mut problems = Problems::new();
    for package in packages {
        let text = std::fs::read_to_string(&package.manifest)
            .map_err(|error| failure(format!("{} cannot be read: {error}", package.manifest.display())))?;
        if !inherits_lints(&text) {
            problems.push(format!(
                "{} must take its lints from the workspace: add `[lints]` with `workspace = true`",
                package.name
            ));
        }
    }
    Ok(problems)
}

fn inherits_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim);
    lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_come_from_the_workspace() {
        assert!(inherits_lints("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"));
        for manifest in [
            "[package]\nname = \"a\"\n",
            "[lints]\n",
            "[lints]\nworkspace = false\n",
            "[lints.rust]\nworkspace = true\n",
            "[package]\nversion.workspace = true\n",
        ] {
            assert!(!inherits_lints(manifest), "{manifest}");
        }
    }
}
