//! The program as a process: a server, or a worker.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tollgate_guard::{Clock as _, SystemClock, Window};
use tollgate_webhook::GithubSecrets;
use ureq::{
    Agent,
    http::{Request, Response},
};

/// What the deliveries of these tests are signed with.
pub(crate) const SECRET: &str = "a-secret-of-the-tests-and-of-nobody-else";

/// A running server, stopped at the end.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
    pub(crate) agent: Agent,
}

/// The program, without what the environment of the tests says.
pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tollgate-demo"));
    for variable in ["VISITOR", "PLAYGROUND_DAY", "TOKENS_DAY", "SESSION_KEY", "PAGES", "FAULTS", "LEASE"] {
        program.env_remove(format!("TOLLGATE_DEMO_{variable}"));
    }
    program.env("TOLLGATE_DEMO_CLOCK_AHEAD", format!("{} ms", ahead().as_millis()));
    for pair in ["KV_REST_API", "UPSTASH_REDIS_REST"] {
        program.env_remove(format!("{pair}_URL")).env_remove(format!("{pair}_TOKEN"));
    }
    for variable in
        ["GITHUB_WEBHOOK_SECRET", "REDIS_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"]
    {
        program.env_remove(variable);
    }
    // Any folder will do: the pages are part of the program.
    program.current_dir(std::env::temp_dir()).env_remove("RUST_LOG").stdin(Stdio::null());
    program
}

/// How far the clocks of all these programs are ahead: it is noon there, so that no day ends meanwhile.
pub(crate) fn ahead() -> Duration {
    static AHEAD: LazyLock<Duration> = LazyLock::new(|| {
        let half_day_ms = Window::DAY.ms() / 2;
        Duration::from_millis(Window::DAY.ms() + half_day_ms - SystemClock.now().unix_ms() % Window::DAY.ms())
    });
    *AHEAD
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::spawn(program().stderr(Stdio::null()))
    }

    pub(crate) fn spawn(program: &mut Command) -> Self {
        let mut child = program.args(["--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("listening on ").unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        let agent = Agent::config_builder().http_status_as_error(false).build().new_agent();
        Self { child, url, agent }
    }

    pub(crate) fn send(&self, method: &str, path: &str, visitor: &str, body: &Value) -> Response<String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("cf-connecting-ip", visitor)
            .header("content-type", "application/json")
            .body(body.to_string());
        let (head, mut body) = self.agent.run(request.unwrap()).unwrap().into_parts();
        Response::from_parts(head, body.read_to_string().unwrap())
    }

    pub(crate) fn ask(&self, visitor: &str) -> Response<String> {
        let question = json!({ "project": "docs", "question": "How is Retry-After rounded?" });
        self.send("POST", "/api/ask", visitor, &question)
    }

    /// How much is used of a key.
    pub(crate) fn used(&self, key: &str, visitor: &str) -> u64 {
        let url = format!("{}/api/limits?project=docs", self.url);
        let mut response = self.agent.get(url).header("cf-connecting-ip", visitor).call().unwrap();
        let rows: Value = serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap();
        let row = rows.as_array().unwrap().iter().find(|row| row["key"] == key);
        row.unwrap_or_else(|| panic!("no {key} in {rows}"))["used"].as_u64().unwrap()
    }

    #[cfg(unix)]
    pub(crate) fn terminate(&mut self) -> std::process::ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running worker, stopped at the end, and what it says.
pub(crate) struct Worker {
    pub(crate) child: Child,
    log: Arc<Mutex<Vec<String>>>,
}

impl Worker {
    pub(crate) fn spawn(program: &mut Command) -> Self {
        let program = program.arg("worker").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "working\n");
        let log = Arc::<Mutex<Vec<String>>>::default();
        let (stderr, lines) = (child.stderr.take().unwrap(), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        Self { child, log }
    }

    /// The ids of the deliveries of which it has said this.
    pub(crate) fn ids(&self, words: &str) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let lines = log.iter().filter(|line| line.contains(words));
        lines.map(|line| line.split("id=").nth(1).unwrap().split(' ').next().unwrap().to_owned()).collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Delivers a push as GitHub would; what its answer says of it, and the status.
    pub(crate) fn deliver(&self, id: &str) -> (u16, String) {
        let body = json!({
            "ref": "refs/heads/main",
            "repository": { "default_branch": "main", "owner": { "login": "acme" } },
            "commits": [{ "added": [], "modified": ["docs/overview.md"], "removed": [] }],
        })
        .to_string();
        let request = Request::post(format!("{}/webhooks/github", self.url))
            .header("content-type", "application/json")
            .header("x-github-hook-id", "17")
            .header("x-github-event", "push")
            .header("x-github-delivery", id)
            .header("x-hub-signature-256", GithubSecrets::new([SECRET]).unwrap().sign(body.as_bytes()))
            .body(body);
        let mut answer = self.agent.run(request.unwrap()).unwrap();
        let body: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        (answer.status().as_u16(), body["delivery"].as_str().unwrap_or_default().to_owned())
    }
}

/// Asks again and again, for as long as anything may take on a busy machine.
#[expect(clippy::disallowed_methods, reason = "what another process does is only to be asked for")]
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("in vain: {what}");
}
