//! `cargo xtask e2e`: the demo's page used as a person does, in a real Chromium. What it needs is brought first.
//!
//! The tests of the workspace leave its package out: they need no browser, and it would change the features of what they test.

use crate::failure::{Result, failure};
use crate::workspace::{self, Workspace};
use crate::{npm, process, services};

pub(crate) const PACKAGE: &str = "tollgate-e2e";

/// Where the pictures of the README are.
const PICTURES: &str = "docs/images";

pub(crate) fn run(args: &[String]) -> Result {
    let makes_pictures = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--screenshots"] => true,
        _ => return Err(failure("`e2e` takes `--screenshots` or nothing")),
    };
    services::bring_browser()?;
    let axe = npm::install("crates/tollgate-e2e/npm", "e2e")?.join("node_modules/axe-core/axe.min.js");
    // One after the other: built together they would share features.
    process::run(&mut process::cargo(&["build", "--package", "tollgate-demo"]))?;
    process::run(&mut process::cargo(&["test", "--quiet", "--package", PACKAGE]))?;
    let demo = Workspace::load()?.target.join("debug/tollgate-demo");
    let mut command = process::cargo(&["run", "--quiet", "--package", PACKAGE, "--"]);
    command.arg("--demo").arg(demo.with_extension(std::env::consts::EXE_EXTENSION)).arg("--axe").arg(axe);
    if makes_pictures {
        command.arg("--screenshots").arg(workspace::root().join(PICTURES));
    }
    process::run(&mut command)
}
