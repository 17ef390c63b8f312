//! `cargo xtask tidy`: the rules of the house that no compiler checks. Each is also a test of this package.

mod arrows;
mod manifests;
mod sources;
mod trees;

use crate::failure::{Result, failure};
use crate::workspace::Workspace;

/// What is wrong, a sentence each; empty when nothing is.
type Problems = Vec<String>;

pub(crate) fn run() -> Result {
    let problems = problems(&Workspace::load()?)?;
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => Err(failure("one rule is broken")),
        count => Err(failure(format!("{count} rules are broken"))),
    }
}

fn problems(workspace: &Workspace) -> Result<Problems> {
    Ok([
        arrows::problems(&workspace.packages),
        manifests::problems(&workspace.packages)?,
        sources::problems()?,
        trees::problems(workspace)?,
    ]
    .concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let problems = problems(&Workspace::load().unwrap()).unwrap();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
