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
        problems.extend(unpublishable(package, packages));
    }
    Ok(problems)
}

/// `cargo publish` leaves out a dev-dependency that has a path and no version; one with a version it looks for in the registry,
/// where a package that is never published is not.
fn unpublishable(package: &Package, packages: &[Package]) -> Problems {
    let never_published =
        |name: &str| packages.iter().any(|package| package.name == name && !package.publish);
    let named = package.dependencies.iter().filter(|dependency| dependency.versioned);
    let named = named.filter(|dependency| package.publish && never_published(&dependency.name));
    named
        .map(|dependency| {
            format!(
                "{} could not be published: {} never is, so it must be named by its path alone, without a version",
                package.name, dependency.name
            )
        })
        .collect()
}

fn inherits_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim);
    lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    #[test]
    fn what_is_never_published_has_no_version() {
        let package = |name: &str, publish, versioned| Package {
            name: name.to_owned(),
            manifest: "Cargo.toml".into(),
            license: String::new(),
            lib: None,
            publish,
            dependencies: vec![Dependency { name: "ours".to_owned(), dev: true, versioned }],
        };
        for (publish, ours_is_published, versioned, is_wrong) in [
            (true, false, true, true),
            (true, false, false, false),
            (true, true, true, false),
            (false, false, true, false),
        ] {
            let packages = [package("theirs", publish, versioned), package("ours", ours_is_published, false)];
            assert_eq!(unpublishable(&packages[0], &packages).len(), usize::from(is_wrong));
        }
    }

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
