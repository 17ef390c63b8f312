//! A Redis of a test's own.

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use redis::{Client, Cmd, Connection, ConnectionLike as _, RedisResult, Value};
use tempfile::TempDir;

/// A `redis-server` on a free port of the loopback, which keeps nothing on disk and ends with this value.
#[derive(Debug)]
pub struct RedisServer {
    child: Child,
    port: u16,
    more: Vec<String>,
    folder: TempDir,
}

/// A key, its value as the server dumps it, and when it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value, in the server's own form.
    pub value: Vec<u8>,
    /// By the server's clock; −1 if never.
    pub expires_at_ms: i64,
}

/// How often and how long to wait for a server that is starting: 10 s in all.
const TRIES: u32 = 2_000;
const PAUSE: Duration = Duration::from_millis(5);

impl RedisServer {
    /// Starts a server and waits until it answers.
    ///
    /// # Panics
    /// If there is no `redis-server`, or it does not start: the message says what to run.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// As [`RedisServer::start`], with more arguments for `redis-server`.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    #[must_use]
    pub fn start_with(arguments: &[&str]) -> Self {
        let more: Vec<_> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut said = String::new();
        // Between looking for a free port and its use somebody else may take it.
        for _ in 0..8 {
            let folder = TempDir::new().expect("a test needs a folder for its server");
            let port = free_port();
            let child = spawn(port, folder.path(), &more);
            let mut server = Self { child, port, more: more.clone(), folder };
            if server.answers() {
                return server;
            }
            said = std::fs::read_to_string(server.folder.path().join("log")).unwrap_or_default();
        }
        panic!("redis-server does not start; its log says:\n{said}")
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), self.port)
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The folder it runs in, empty but for its log.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A connection of its own.
    ///
    /// # Panics
    /// If the server does not answer.
    #[must_use]
    pub fn connect(&self) -> Connection {
        let client = Client::open(self.url()).expect("this is a URL");
        client.get_connection().expect("a server that runs answers")
    }

    /// Runs one command on a connection of its own.
    ///
    /// # Panics
    /// If the server does not answer, or answers with an error.
    #[expect(clippy::must_use_candidate, reason = "most commands are run for what they do")]
    pub fn run(&self, words: &[&str]) -> Value {
        self.try_run(words).unwrap_or_else(|error| panic!("{words:?} fails: {error}"))
    }

    /// Runs one command on a connection of its own.
    ///
    /// # Errors
    /// If the server answers with an error.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn try_run(&self, words: &[&str]) -> RedisResult<Value> {
        let mut command = Cmd::new();
        for word in words {
            command.arg(word);
        }
        self.connect().req_command(&command)?.extract_error()
    }

    /// All keys it holds, in order.
    ///
    /// # Panics
    /// As [`RedisServer::run`].
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> =
            redis::from_redis_value(self.run(&["KEYS", "*"])).expect("keys are text here");
        keys.sort();
        keys
    }

    /// Everything it holds, in the order of the keys.
    ///
    /// # Panics
    /// As [`RedisServer::run`].
    #[must_use]
    pub fn contents(&self) -> Vec<Entry> {
        let all = "local found = {} for at, key in ipairs(redis.call('KEYS', '*')) do \
                   found[at] = {key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key)} end return found";
        let found: Vec<(String, Vec<u8>, i64)> =
            redis::from_redis_value(self.run(&["EVAL", all, "0"])).expect("keys are text here");
        let entry = |(key, value, expires_at_ms)| Entry { key, value, expires_at_ms };
        let mut entries: Vec<_> = found.into_iter().map(entry).collect();
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        entries
    }

    /// Ends it at once, as `kill -9` does.
    ///
    /// # Panics
    /// If it cannot be ended.
    pub fn kill(&mut self) {
        self.child.kill().expect("our own child can be ended");
        self.child.wait().expect("our own child ends");
    }

    /// Starts it again after [`RedisServer::kill`], empty and on the same port.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.child = spawn(self.port, self.folder.path(), &self.more);
        assert!(self.answers(), "the server does not start again");
    }

    /// Makes it mute: its connections stay open, and nothing is answered.
    ///
    /// # Panics
    /// If it cannot be.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on after [`RedisServer::pause`].
    ///
    /// # Panics
    /// If it cannot be.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().expect("`kill` is on every Unix");
        assert!(sent.success(), "kill {signal} {pid} failed");
    }

    /// Whether this server is at the other end, and not another that took the port first.
    fn is_at(&self, connection: &mut Connection) -> bool {
        let info: RedisResult<String> = redis::cmd("INFO").arg("server").query(connection);
        match info {
            Ok(info) => info.lines().any(|line| line == format!("process_id:{}", self.child.id())),
            Err(_) => connection.check_connection(),
        }
    }

    /// Whether it answers in the end: not if it has ended instead.
    fn answers(&mut self) -> bool {
        let client = Client::open(self.url()).expect("this is a URL");
        for _ in 0..TRIES {
            if client.get_connection().is_ok_and(|mut connection| self.is_at(&mut connection)) {
                return true;
            }
            if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return false;
            }
            pause();
        }
        false
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may have been ended already, and there is nobody to tell.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a process that starts is only to be asked again and again")]
fn pause() {
    thread::sleep(PAUSE);
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a test needs a free port");
    listener.local_addr().expect("a bound port is known").port()
}

fn spawn(port: u16, folder: &Path, more: &[String]) -> Child {
    let started = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .args(["--daemonize", "no", "--logfile", "log", "--dir"])
        .arg(folder)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => panic!(
            "there is no `redis-server` on PATH: run `cargo xtask test`, which brings it, or `sudo apt-get install -y redis-server`"
        ),
        Err(error) => panic!("redis-server could not be started: {error}"),
    }
}
