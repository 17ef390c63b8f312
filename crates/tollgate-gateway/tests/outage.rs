//! Redis goes away and comes back.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::json;

use crate::support::{RedisServer, Server, TOKEN, bearer};

const PING: &str = r#"["PING"]"#;
const PINGS: &str = r#"[["PING"]]"#;

#[test]
fn a_redis_that_was_killed_is_found_again() {
    let mut redis = RedisServer::start();
    let server = Server::start(&redis);
    let down = json!({"error": "ERR Redis cannot be reached"});
    for _ in 0..2 {
        // Both kinds of connections are in use when it goes.
        assert_eq!(server.run(PING), "PONG");
        assert_eq!(server.post("/multi-exec", PINGS).0, 200);
        redis.kill();
        for path in ["/", "/pipeline", "/multi-exec"] {
            let body = if path == "/" { PING } else { PINGS };
            assert_eq!(server.post(path, body), (503, down.clone()), "{path}");
        }
        assert_eq!(server.send("GET", "/", &[], b"").status, 200, "the gateway itself is alive");
        redis.restart();
        assert_eq!(server.run(PING), "PONG", "what was found out during the outage is no answer after it");
        assert_eq!(server.post("/multi-exec", PINGS).0, 200);
    }
}

#[test]
fn under_load_too() {
    let mut redis = RedisServer::start();
    let server = Server::start(&redis);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for path in ["/", "/pipeline", "/multi-exec"] {
            let (server, done) = (&server, &done);
            scope.spawn(move || {
                let body = if path == "/" { PING } else { PINGS };
                while !done.load(Ordering::Relaxed) {
                    let (status, answer) = server.post(path, body);
                    assert!([200, 503].contains(&status), "{path}: {status} {answer}");
                }
            });
        }
        for _ in 0..3 {
            while server.post("/", PING).0 != 200 {}
            redis.kill();
            while server.post("/", PING).0 != 503 {}
            redis.restart();
        }
        while server.post("/", PING).0 != 200 {}
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_mute_redis_is_given_up_in_time() {
    let redis = RedisServer::start();
    let server = Server::start_with(&redis, |builder| builder.reply_within(Duration::from_millis(100)));
    assert_eq!(server.run(PING), "PONG");
    redis.pause();
    let late = json!({"error": "ERR Redis does not answer in time"});
    assert_eq!(server.post("/", PING), (504, late));
    redis.resume();
    while server.post("/", PING).0 != 200 {}
}

#[test]
fn requests_that_have_begun_may_finish() {
    let redis = RedisServer::start();
    let mut server = Server::start(&redis);
    let mut client = TcpStream::connect(server.address).unwrap();
    let (token, length) = (bearer(TOKEN), PING.len());
    write!(
        client,
        "POST / HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
    )
    .unwrap();
    let mut answers = BufReader::new(client.try_clone().unwrap());
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    // The gateway wants the body: the request has begun.
    assert!(line.starts_with("HTTP/1.1 100"), "{line}");
    server.stop();
    while TcpStream::connect(server.address).is_ok() {}
    client.write_all(PING.as_bytes()).unwrap();
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("HTTP/1.1 200") && rest.ends_with(r#"{"result":"PONG"}"#), "{rest}");
}
