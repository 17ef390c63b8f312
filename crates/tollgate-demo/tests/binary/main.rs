//! The program itself, over a real socket.

#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod chats;
mod kills;
mod pushes;
mod server;

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    process::Stdio,
};

use serde_json::{Value, json};
use tollgate_gateway::Gateway;
use tollgate_testbed::RedisServer;
use ureq::http::Response;

use crate::server::{Server, program};

fn header<'r>(response: &'r Response<String>, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[test]
fn twenty_questions_are_fifteen_answers() {
    let server = Server::start();
    for n in 0..20 {
        let answer = server.ask("203.0.113.7");
        let policies = header(&answer, "ratelimit-policy");
        for policy in ["ask-burst", "ask", "ask-site", "ask-all"] {
            assert!(policies.contains(&format!("{policy:?};q=")), "{policies}");
        }
        let body: Value = serde_json::from_str(answer.body()).unwrap();
        if n < 15 {
            assert_eq!(answer.status(), 200, "{body}");
            assert_eq!(body["passages"][0]["page"], "headers");
            assert!(header(&answer, "ratelimit").contains(&format!("\"ask\";r={};", 14 - n)));
        } else {
            assert_eq!(answer.status(), 429);
            assert!(header(&answer, "retry-after").parse::<u64>().unwrap() >= 1);
            assert!(header(&answer, "ratelimit").contains("\"ask\";r=0;t="));
            assert_eq!(header(&answer, "content-type"), "application/problem+json");
            assert_eq!(body["violated-policies"], json!(["ask"]));
        }
    }
    assert_eq!(server.used("ask-all", "203.0.113.7"), 15);
    assert_eq!(server.used("ask:docs:203.0.113.7", "::ffff:203.0.113.7"), 15);
    assert_eq!(server.used("ask:docs:203.0.113.8", "203.0.113.8"), 0);
    assert_eq!(server.ask("::ffff:203.0.113.7").status(), 429);
    assert_eq!(server.ask("203.0.113.8").status(), 200);
    assert_eq!(server.ask("2001:db8::1").status(), 200);
    assert_eq!(server.used("ask:docs:2001:db8:0:0::/64", "2001:db8::ffff:0:2"), 1);
    assert_eq!(server.used("ask-all", "203.0.113.9"), 17);
}

/// Two processes, 20 questions of one visitor in turn: 15 answers, wherever they were asked.
fn share_every_limit(variables: &[(&str, &str)], kind: &str) {
    let start = || Server::spawn(program().envs(variables.iter().copied()).stderr(Stdio::null()));
    let servers = [start(), start()];
    let statuses: Vec<_> = (0..20).map(|n| servers[n % 2].ask("203.0.113.7").status().as_u16()).collect();
    assert_eq!(statuses, [[200; 15].as_slice(), &[429; 5]].concat());
    for server in &servers {
        assert_eq!(server.used("ask-all", "203.0.113.7"), 15);
        let state = server.agent.get(format!("{}/api/store", server.url)).call().unwrap();
        let state: Value = serde_json::from_str(&state.into_body().read_to_string().unwrap()).unwrap();
        assert_eq!(state["kind"], kind);
    }
}

#[test]
fn two_processes_on_one_redis_share_every_limit() {
    let redis = RedisServer::start();
    share_every_limit(&[("REDIS_URL", &redis.url())], "redis");
    assert!(
        redis.keys().iter().any(|key| key.starts_with("limit:ask:docs:203.0.113.7:")),
        "{:?}",
        redis.keys()
    );
}

#[test]
fn two_processes_on_the_rest_gateway_share_every_limit() {
    let redis = RedisServer::start();
    behind_the_gateway(&redis, |variables| share_every_limit(variables, "upstash"));
}

/// Runs with the variables of a store behind a gateway to this Redis.
fn behind_the_gateway(redis: &RedisServer, run: impl FnOnce(&[(&str, &str)])) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let token = "a-token-of-the-tests-and-of-nobody-else";
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let gateway = Gateway::builder(redis.url()).token(token).build().unwrap();
    let served = runtime.spawn(async move { gateway.serve(listener, std::future::pending()).await });
    run(&[("UPSTASH_REDIS_REST_URL", &url), ("UPSTASH_REDIS_REST_TOKEN", token)]);
    served.abort();
}

#[test]
fn an_outage_is_one_line_in_a_log_without_addresses() {
    let mut server = Server::spawn(program().stderr(Stdio::piped()));
    let visitor = "203.0.113.7";
    let message = json!({ "message": "How is Retry-After rounded?" });
    let (on, off) = (json!({ "up": true }), json!({ "up": false }));
    assert_eq!(server.send("PUT", "/api/store", "127.0.0.1", &off).status(), 200);
    for _ in 0..6 {
        assert_eq!(server.ask(visitor).status(), 503);
        assert_eq!(server.send("POST", "/api/chat", visitor, &message).status(), 503);
        assert_eq!(server.send("POST", "/api/session", visitor, &json!({ "org": "acme" })).status(), 200);
    }
    assert_eq!(server.send("PUT", "/api/store", "127.0.0.1", &on).status(), 200);
    assert_eq!(server.ask(visitor).status(), 200);

    server.child.kill().unwrap();
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    let lines_with = |words: &str| log.lines().filter(|line| line.contains(words)).count();
    assert_eq!(lines_with("store outage begins"), 1, "{log}");
    assert_eq!(lines_with("each instance counts for itself"), 1, "{log}");
    assert_eq!(lines_with(" WARN ") + lines_with(" ERROR "), 2, "{log}");
    assert_eq!(lines_with("status=503"), 12, "{log}");
    for secret in [visitor, "127.0.0.1", "Retry-After", "acme"] {
        assert_eq!(lines_with(secret), 0, "{secret:?} is in the log");
    }
}

#[cfg(unix)]
#[test]
fn it_stops_when_told_and_leaves_the_port() {
    let mut server = Server::start();
    assert_eq!(server.ask("203.0.113.7").status(), 200);
    // The agent keeps its connection open: an idle client does not hold the server up.
    assert!(server.terminate().success());
    let address = server.url.strip_prefix("http://").unwrap();
    assert!(TcpListener::bind(address).is_ok());
}

#[cfg(unix)]
#[test]
fn it_stops_though_somebody_watches() {
    let mut server = Server::spawn(program().stderr(Stdio::piped()));
    let stream = server.agent.get(format!("{}/api/live", server.url)).call().unwrap();
    let mut lines = BufReader::new(stream.into_body().into_reader()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "event: hello");
    assert!(server.terminate().success());
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert!(rest.iter().any(|line| line == "event: limits"), "the stream ends as streams end: {rest:?}");
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("stopped") && !log.contains("cut off"), "{log}");
}

#[test]
fn a_taken_port_is_an_error_that_says_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = program().args(["--port", &port]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(error.contains(&format!("port {port} is taken")) && error.contains("--port 0"), "{error}");
}

#[test]
fn a_flag_it_does_not_know_is_named() {
    let output = program().arg("--prot=1").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(error.contains("--prot") && error.lines().count() == 1, "{error}");
    let output = program().arg("--help").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), tollgate_demo::HELP);
}
