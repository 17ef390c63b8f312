//! Uses the demo's page as a person does: a real Chromium, the demo's own program, and nothing else on the network.
//!
//! `cargo xtask e2e` builds and brings what it needs and runs it. It is a program and no test, so that the tests need no browser.
//!
//! The browser is driven over `WebDriver`, by [thirtyfour] and the `chromedriver` that Debian builds from the browser's own source.
//! Compared were:
//!
//! | crate | speaks | crates it brings | why, or why not |
//! |---|---|---|---|
//! | thirtyfour | `WebDriver`, Chromium's own commands through the driver | 103 | active, MIT or Apache-2.0; reads the console's and the network's log |
//! | fantoccini | `WebDriver` | 99 | no way of its own to the logs; it rests on a crate under the MPL |
//! | chromiumoxide | Chromium's protocol | 120 | no driver needed, but one version of the protocol as generated code, long to compile, which Chromium outgrows |
//! | `headless_chrome` | Chromium's protocol | 118 | the same, and blocking |
//!
//! The driver has the browser's version by construction, its clicks and keys are those of a person, and it compiles in seconds.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks through both")]

mod browser;
mod demo;
mod failure;
mod network;
mod page;
mod scenarios;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use crate::{
    browser::Browser,
    failure::{Result, failure},
};

/// What `cargo xtask e2e` tells.
#[derive(Debug)]
struct Options {
    /// The demo's program.
    demo: PathBuf,
    /// axe-core in one script.
    axe: PathBuf,
    /// Where screenshots go, if any are to be made.
    screenshots: Option<PathBuf>,
}

/// All scenarios together take a fraction of it; a browser that hangs must not hold a build machine.
const LONGEST: Duration = Duration::from_secs(600);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result {
    let options = Options::read()?;
    let browser = Browser::start().await?;
    #[expect(clippy::disallowed_methods, reason = "a bound on the whole, no decision of a limit")]
    let done = tokio::time::timeout(LONGEST, scenarios::run(&browser, &options)).await;
    let log = browser.end().await?;
    done.unwrap_or_else(|_| Err(failure("the scenarios take too long")))?;
    network::stays_at_home(&log)
}

impl Options {
    fn read() -> Result<Self> {
        let (mut demo, mut axe, mut screenshots) = (None, None, None);
        let mut parser = lexopt::Parser::from_env();
        while let Some(flag) = parser.next()? {
            match flag {
                lexopt::Arg::Long("demo") => demo = Some(parser.value()?.into()),
                lexopt::Arg::Long("axe") => axe = Some(parser.value()?.into()),
                lexopt::Arg::Long("screenshots") => screenshots = Some(parser.value()?.into()),
                lexopt::Arg::Long(_) | lexopt::Arg::Short(_) | lexopt::Arg::Value(_) => {
                    return Err(flag.unexpected().into());
                }
            }
        }
        let needed = |path: Option<PathBuf>, flag: &str| {
            path.ok_or_else(|| failure(format!("{flag} is missing: run `cargo xtask e2e`")))
        };
        Ok(Self { demo: needed(demo, "--demo")?, axe: needed(axe, "--axe")?, screenshots })
    }
}
