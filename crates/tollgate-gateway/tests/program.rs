//! The program itself.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::TcpListener,
    process::{Child, ChildStdout, Command, Stdio},
};

use crate::support::RedisServer;

const STRONG: &str = "0123456789abcdef0123456789abcdef";

/// A running program, stopped at the end.
pub(crate) struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tollgate-gateway"));
    for variable in ["LISTEN", "TOKEN", "READ_ONLY_TOKEN", "MOST_CONNECTIONS"] {
        program.env_remove(format!("TOLLGATE_GATEWAY_{variable}"));
    }
    program.env_remove("REDIS_URL").env_remove("RUST_LOG").stdin(Stdio::null());
    program
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// What the next line says after these words.
    pub(crate) fn line(&mut self, begins: &str) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        let rest = line.trim_end().strip_prefix(begins);
        rest.unwrap_or_else(|| panic!("{line:?} instead of {begins:?}")).to_owned()
    }

    /// Stops it in good order, and reads its log.
    fn terminate(mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn ping(url: &str, token: &str) -> u16 {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let request = agent.post(url).header("authorization", format!("Bearer {token}"));
    request.send(r#"["PING"]"#).unwrap().status().as_u16()
}

#[cfg(unix)]
#[test]
fn it_serves_until_told_to_stop_and_says_each_outage_once() {
    let mut redis = RedisServer::start();
    let mut running = Running::start(
        program()
            .args(["--redis", &redis.url(), "--listen", "127.0.0.1:0"])
            .env("TOLLGATE_GATEWAY_TOKEN", "a-token"),
    );
    let url = running.line("listening on ");
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    assert_eq!((ping(&url, "a-token"), ping(&url, "b-token")), (200, 401));
    redis.kill();
    for _ in 0..5 {
        assert_eq!(ping(&url, "a-token"), 503);
    }
    redis.restart();
    while ping(&url, "a-token") != 200 {}
    let log = running.terminate();
    assert_eq!(log.matches(" WARN ").count(), 1, "{log}");
    assert!(log.contains("Redis outage begins") && log.contains("stopped"), "{log}");
    assert!(!log.contains("-token") && !log.contains(&redis.url()), "{log}");
    assert!(TcpListener::bind(url.strip_prefix("http://").unwrap()).is_ok());
}

#[cfg(unix)]
#[test]
fn without_a_token_it_makes_one_and_prints_it_once() {
    let redis = RedisServer::start();
    let mut running = Running::start(program().args(["--redis", &redis.url(), "--listen=127.0.0.1:0"]));
    let token = running.line("token ");
    let url = running.line("listening on ");
    assert!(token.len() >= 32);
    assert_eq!(ping(&url, &token), 200);
    assert!(!running.terminate().contains(&token));
}

#[test]
fn a_redis_may_come_later() {
    let mut redis = RedisServer::start();
    redis.kill();
    let mut running =
        Running::start(program().args(["--redis", &redis.url(), "--listen=127.0.0.1:0", "--token=t"]));
    let url = running.line("listening on ");
    assert_eq!(ping(&url, "t"), 503);
    redis.restart();
    while ping(&url, "t") != 200 {}
}

#[test]
fn what_cannot_start_says_so_in_one_line() {
    let redis = RedisServer::start();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let with_password = redis.url().replace("redis://", "redis://:secret@");
    for (args, says) in [
        (&["--listen", "0.0.0.0:0", "--token", "secret"][..], "at least 32 characters"),
        (
            &["--listen", "0.0.0.0:0", "--token", STRONG, "--read-only-token", "secret"],
            "at least 32 characters",
        ),
        (&["--listen", &taken, "--token", "secret"], "--listen"),
        (&["--redis", "secret://x", "--token", "secret"], "redis://"),
        #[cfg(not(feature = "tls"))]
        (&["--redis", "rediss://x", "--token", "secret"], "TLS"),
        (
            &["--redis", &with_password, "--listen=127.0.0.1:0", "--token", "secret"],
            "Redis refuses the connection",
        ),
        (&["--tokn=secret"], "--tokn"),
        (&["secret"], "--help"),
    ] {
        let output = program().args(args).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{args:?}");
        assert!(error.contains(says) && error.lines().count() == 1, "{args:?}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }
    let output = program().arg("--help").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), tollgate_gateway::HELP);
}
