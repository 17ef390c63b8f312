//! `cargo xtask interop`: Upstash's own TypeScript and Python clients, unmodified, against the gateway, and on one
//! count with Tollgate; and what the official packages of webhook senders sign, against Tollgate.
//!
//! Their versions are pinned by the lock files beside the tests in `crates/tollgate-gateway/interop`; they are
//! installed under the target folder.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::failure::{Result, failure};
use crate::workspace::Workspace;
use crate::{npm, process, redis, services};

const TESTS: &str = "crates/tollgate-gateway/interop";

/// Takes of a limit through Tollgate, for the tests that share one.
const SPEND: [&str; 6] = ["build", "--quiet", "--package", "tollgate-testbed", "--example", "spend"];

/// Verifies and signs webhooks through Tollgate.
const SIGNATURES: [&str; 6] =
    ["build", "--quiet", "--package", "tollgate-webhook", "--example", "signatures"];

const PYTHON: npm::Tool =
    ("python3", 3, 11, "Python 3.11 or newer is needed: `sudo apt-get install -y python3 python3-venv`");

pub(crate) fn run() -> Result {
    services::bring()?;
    let folder = packages()?;
    npm::needs(&[PYTHON])?;
    let python = python(&folder)?;

    let examples = Workspace::load()?.target.join("debug/examples");
    process::run(&mut process::cargo(&SPEND))?;
    process::run(&mut process::cargo(&SIGNATURES))?;
    let mut servers = Servers::start()?;
    for (variable, example) in [("TOLLGATE_SPEND", "spend"), ("TOLLGATE_SIGNATURES", "signatures")] {
        let program = examples.join(example).with_extension(std::env::consts::EXE_EXTENSION);
        servers.variables.push((variable.to_owned(), program.display().to_string()));
    }
    let mut node = process::command("node");
    node.args(["--test", "--test-reporter=spec", "redis.test.mjs", "ratelimit.test.mjs", "share.test.mjs"]);
    node.arg("webhook.test.mjs");
    process::run(servers.environment(&mut node).current_dir(&folder))?;
    let mut unittest = process::command(python);
    unittest.args(["-m", "unittest", "-v", "test_clients", "test_share"]);
    process::run(servers.environment(&mut unittest).current_dir(&folder))
}

/// The folder in which the official packages for TypeScript are installed.
pub(crate) fn packages() -> Result<PathBuf> {
    npm::install(TESTS, "interop")
}

/// A Python of its own with exactly the pinned packages; its program.
fn python(folder: &Path) -> Result<PathBuf> {
    let bin = if cfg!(windows) { "venv/Scripts/python" } else { "venv/bin/python" };
    let python = folder.join(bin);
    if !process::answers(process::command(&python).args(["-m", "pip", "--version"])) {
        process::run(process::command("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")))
            .map_err(|error| failure(format!("{error}; Debian has it in the package `python3-venv`")))?;
    }
    let mut install = process::command(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement"]);
    process::run(install.arg(folder.join("requirements.txt")))?;
    Ok(python)
}

/// A Redis and a gateway, stopped at the end.
struct Servers {
    child: Child,
    variables: Vec<(String, String)>,
}

impl Servers {
    fn start() -> Result<Self> {
        let mut command = process::cargo(&redis::THROWAWAY);
        println!("$ {}", process::shown(&command));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child =
            child.map_err(|error| failure(format!("the gateway could not be started: {error}")))?;
        let out = child.stdout.take();
        let mut servers = Self { child, variables: Vec::new() };
        for line in
            out.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(std::result::Result::ok)
        {
            match line.strip_prefix("export ").and_then(|line| line.split_once('=')) {
                Some((name, value)) => servers.variables.push((name.to_owned(), value.to_owned())),
                // It runs when it has said everything.
                None => return Ok(servers),
            }
        }
        Err(failure("the gateway did not start"))
    }

    fn environment<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)))
    }
}

impl Drop for Servers {
    /// In good order where that can be had: the gateway stops its Redis, which nobody else knows.
    fn drop(&mut self) {
        let pid = self.child.id().to_string();
        if !process::answers(process::command("kill").args(["-TERM", &pid])) {
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}
