//! Processes that are killed at the worst moment: nothing stays locked for longer than its window or its lease.

use std::{net::TcpListener, process::Stdio};

use serde_json::json;
use tollgate_demo::policies::CHAT_TOKENS;
use tollgate_guard::{Clock, SystemClock};
use tollgate_testbed::RedisServer;

use crate::server::{SECRET, Server, Worker, ahead, program, until};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A model that takes every question and answers none.
struct Silent(TcpListener);

impl Silent {
    fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.0.local_addr().unwrap())
    }
}

#[test]
fn a_delivery_whose_worker_was_killed_is_done_once_its_lease_ends() {
    let (redis, silent) = (RedisServer::start(), Silent::start());
    let with = || {
        let mut program = program();
        program.env("REDIS_URL", redis.url()).env("GITHUB_WEBHOOK_SECRET", SECRET);
        program.env("TOLLGATE_DEMO_LEASE", "2s");
        program
    };
    let servers = [(); 2].map(|()| Server::spawn(with().stderr(Stdio::null())));
    let [mut one, other] = servers;
    let mut killed = Worker::spawn(with().env("OPENAI_BASE_URL", silent.url()));
    assert_eq!(one.deliver("push-1"), (202, "queued".to_owned()));
    let is_charged = || redis.keys().iter().any(|key| key.starts_with("limit:docs-update:acme:"));
    until("the worker is at it", is_charged);
    // On Unix this is the signal that cannot be caught.
    killed.child.kill().unwrap();
    one.child.kill().unwrap();

    let worker = Worker::spawn(&mut with());
    until("the lease has ended", || match other.deliver("push-1") {
        (202, said) if said == "in progress" => false,
        said => {
            assert_eq!(said, (202, "queued".to_owned()));
            true
        }
    });
    until("the redelivery is worked off", || worker.ids("pages updated") == ["push-1"]);
    until("it is confirmed", || other.deliver("push-1") == (200, "duplicate".to_owned()));
}

#[test]
fn what_a_killed_server_had_reserved_is_spent_until_its_window_ends() {
    let (redis, silent) = (RedisServer::start(), Silent::start());
    let with = || {
        let mut program = program();
        program.env("REDIS_URL", redis.url()).stderr(Stdio::null());
        program
    };
    let mut killed = Server::spawn(with().env("OPENAI_BASE_URL", silent.url()));
    let other = Server::spawn(&mut with());
    let message = json!({ "message": "What is a key?" });
    let day = SystemClock.now().saturating_add(ahead()).unix_ms() / DAY_MS;
    let (agent, url) = (killed.agent.clone(), format!("{}/api/chat", killed.url));
    let body = message.to_string();
    let asking =
        std::thread::spawn(move || agent.post(url).header("content-type", "application/json").send(body));
    let used = || other.used("tokens", "203.0.113.7");
    until("it is reserved", || used() == CHAT_TOKENS);
    killed.child.kill().unwrap();
    assert!(asking.join().unwrap().is_err(), "nobody answers");

    assert_eq!(used(), CHAT_TOKENS, "the safe side");
    let answer = other.send("POST", "/api/chat", "203.0.113.8", &message);
    assert_eq!(answer.status(), 200, "nothing is locked");
    let spent = used();
    assert!(CHAT_TOKENS < spent && spent < 2 * CHAT_TOKENS, "{spent}");
    // A second after its window each key is gone, whoever is still alive.
    let contents = redis.contents();
    assert!(contents.iter().any(|entry| entry.key.starts_with("limit:tokens:")), "{contents:?}");
    for entry in contents {
        let ends_at = u64::try_from(entry.expires_at_ms).unwrap();
        assert!(ends_at > 0, "{} stays for ever", entry.key);
        if entry.key.starts_with("limit:tokens:") {
            assert!(
                u128::from(ends_at) + ahead().as_millis() <= u128::from((day + 1) * DAY_MS + 2_000),
                "{}",
                entry.key
            );
        }
    }
}
