//! A Redis of a test's own.

use std::{
    net::{Ipv4Addr, TcpListener},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// A `redis-server` on a free port of the loopback, which keeps nothing on disk and ends with this value.
#[derive(Debug)]
pub(crate) struct RedisServer {
    child: Child,
    port: u16,
    folder: TempDir,
}

/// How often and how long to wait for a server that is starting: 10 s in all.
const TRIES: u32 = 2_000;
const PAUSE: Duration = Duration::from_millis(5);

impl RedisServer {
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let server = Self { child: spawn(port, &folder), port, folder };
        server.wait();
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Ends it at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again after [`RedisServer::kill`], empty and on the same port.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(self.port, &self.folder);
        self.wait();
    }

    /// Makes it mute: its connections stay open, and nothing is answered.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a process that starts is only to be asked again and again"
    )]
    fn wait(&self) {
        for _ in 0..TRIES {
            if std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return;
            }
            thread::sleep(PAUSE);
        }
        panic!("redis-server does not start");
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(port: u16, folder: &TempDir) -> Child {
    let started = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .args(["--daemonize", "no", "--logfile", "log", "--dir"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.unwrap_or_else(|error| {
        panic!("redis-server could not be started ({error}): run `sudo apt-get install -y redis-server`")
    })
}
