//! The demo's program on a free port, counting in memory.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use ureq::Agent;

use crate::failure::{Result, ensure, failure};

/// A running demo, ended by its id when this is dropped.
#[derive(Debug)]
pub(crate) struct Demo {
    program: PathBuf,
    ahead: String,
    child: Child,
    url: String,
    agent: Agent,
}

/// What would make it another server than the one that is described here.
const VARIABLES: [&str; 17] = [
    "GITHUB_WEBHOOK_SECRET",
    "KV_REST_API_TOKEN",
    "KV_REST_API_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "REDIS_URL",
    "RUST_LOG",
    "TOLLGATE_DEMO_FAULTS",
    "TOLLGATE_DEMO_LEASE",
    "TOLLGATE_DEMO_PAGES",
    "TOLLGATE_DEMO_PLAYGROUND_DAY",
    "TOLLGATE_DEMO_SESSION_KEY",
    "TOLLGATE_DEMO_TOKENS_DAY",
    "TOLLGATE_DEMO_VISITOR",
    "UPSTASH_REDIS_REST_TOKEN",
    "UPSTASH_REDIS_REST_URL",
];

impl Demo {
    /// A new one on a free port, whose clock is so far ahead.
    pub(crate) fn start(program: &Path, ahead: &str) -> Result<Self> {
        Self::start_on(program, ahead, "0")
    }

    /// Ends it at once, as an accident would, and starts another on its port.
    pub(crate) fn replace(self) -> Result<Self> {
        let (program, ahead, url) = (self.program.clone(), self.ahead.clone(), self.url.clone());
        drop(self);
        let port = url.rsplit_once(':').map_or("0", |(_, port)| port);
        Self::start_on(&program, &ahead, port)
    }

    fn start_on(program: &Path, ahead: &str, port: &str) -> Result<Self> {
        let mut command = Command::new(program);
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command.env("TOLLGATE_DEMO_CLOCK_AHEAD", ahead);
        let command = command.args(["--port", port]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let url = line.trim_end().strip_prefix("listening on ").map(str::to_owned);
        let agent = Agent::config_builder().http_status_as_error(false).build().new_agent();
        let (program, ahead) = (program.to_owned(), ahead.to_owned());
        let mut demo = Self { program, ahead, child, url: String::new(), agent };
        demo.url = url.ok_or_else(|| failure(format!("the demo does not start: it says {line:?}")))?;
        Ok(demo)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Asks as another client does, whom a proxy on this machine speaks for; the status.
    pub(crate) fn ask_as(&self, address: &str) -> Result<u16> {
        let request = self.agent.post(format!("{}/api/ask", self.url));
        let request = request.header("cf-connecting-ip", address).header("content-type", "application/json");
        let answer = request.send(r#"{"project": "tollgate", "question": "What is a key?"}"#)?;
        Ok(answer.status().as_u16())
    }

    /// Switches the store off or on, as another client does.
    pub(crate) fn switch_store(&self, up: bool) -> Result {
        let request = self.agent.put(format!("{}/api/store", self.url));
        let answer = request.header("content-type", "application/json").send(format!(r#"{{"up": {up}}}"#))?;
        ensure(answer.status() == 200, || format!("the store cannot be switched: {}", answer.status()))
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // One that has ended by itself needs no ending.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
