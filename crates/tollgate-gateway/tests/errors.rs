//! Requests that go wrong: the status, and JSON always.

use serde_json::json;

use crate::support::{RedisServer, Server, TOKEN, bearer};

#[test]
fn each_error_has_its_status_and_is_json() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let token = bearer(TOKEN);
    let with_token = [("authorization", &*token)];
    let long = "x".repeat(40_000);
    for (method, path, fields, body, status, begins) in [
        ("POST", "/", &[][..], "[\"PING\"]", 401, "WRONGPASS invalid or missing auth token"),
        ("POST", "/", &[("authorization", "Basic a-token")], "", 401, "WRONGPASS invalid or missing"),
        ("POST", "/", &[("authorization", "Bearer")], "", 401, "WRONGPASS invalid or missing"),
        ("POST", "/", &[("authorization", "Bearer ")], "", 401, "WRONGPASS invalid"),
        ("POST", "/", &[("authorization", "Bearer wrong")], "[", 401, "WRONGPASS invalid password"),
        ("GET", "/get/k?_token=wrong", &[], "", 401, "WRONGPASS invalid password"),
        ("GET", "/get/k?_token=a-token", &[("authorization", "Bearer wrong")], "", 401, "WRONGPASS"),
        ("POST", "/", &with_token, "[", 400, "ERR failed to parse the request: "),
        ("POST", "/", &with_token, "", 400, "ERR failed to parse the request: "),
        ("POST", "/", &with_token, "[]", 400, "ERR empty command"),
        ("POST", "/", &with_token, "[\"SET\",\"k\",null]", 400, "ERR failed to parse the request: an arg"),
        ("POST", "/pipeline", &with_token, "[]", 400, "ERR empty command"),
        ("POST", "/pipeline", &with_token, "[[\"PING\"],[]]", 400, "ERR empty command at index 1"),
        ("POST", "/pipeline", &with_token, "[\"PING\"]", 400, "ERR failed to parse the request: "),
        ("POST", "/multi-exec", &with_token, "{}", 400, "ERR failed to parse the request: "),
        ("GET", "/pipeline", &with_token, "", 405, "ERR /pipeline takes a POST"),
        ("DELETE", "/get/k", &with_token, "", 405, "ERR method not allowed"),
        ("PATCH", "/", &with_token, "x", 405, "ERR method not allowed"),
        ("POST", "/subscribe/chat", &with_token, "", 400, "ERR Command is not available: 'subscribe'"),
        ("GET", "/get/k", &[("authorization", &*token), ("x-long", &*long)], "", 431, "ERR header fields"),
        (
            "POST",
            "/",
            &[("authorization", &*token), ("upstash-response-format", "resp2")],
            "[\"PING\"]",
            400,
            "ERR unsupported response format",
        ),
    ] {
        let answer = server.send(method, path, fields, body.as_bytes());
        let text = answer.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(answer.status, status, "{method} {path} {body}: {text}");
        assert!(text.starts_with(begins), "{method} {path} {body}: {text}");
        assert_eq!(answer.field("content-type"), "application/json");
        assert!(!text.contains(TOKEN), "{text}");
    }
    assert_eq!(server.send("POST", "/", &[], b"").field("www-authenticate"), "Bearer");
    assert_eq!(server.send("DELETE", "/", &[], b"").field("allow"), "GET, POST, PUT");
}

#[test]
fn a_body_may_be_as_large_as_its_limit_and_no_larger() {
    let redis = RedisServer::start();
    let server = Server::start_with(&redis, |builder| builder.most_body_bytes(1_000));
    let body = |bytes: usize| format!("[\"ECHO\",\"{}\"]", "x".repeat(bytes - r#"["ECHO",""]"#.len()));
    assert_eq!(server.post("/", &body(1_000)).0, 200);
    let expected = json!({"error": "ERR max request size exceeded. Limit: 1000 bytes"});
    for bytes in [1_001, 5_000, 8_000] {
        assert_eq!(server.post("/", &body(bytes)), (413, expected.clone()), "{bytes}");
    }
    assert_eq!(server.post("/", &body(1_000)).0, 200);
}

/// The bodies of all requests share one room, and give it back with the answer, however it goes.
#[test]
fn bodies_that_are_too_large_together_are_refused() {
    let redis = RedisServer::start();
    let server = Server::start_with(&redis, |builder| builder.most_bytes_of_bodies(100_000));
    let echo = |bytes: usize| format!("[\"ECHO\",\"{}\"]", "x".repeat(bytes));
    let (status, answer) = server.post("/", &echo(200_000));
    assert_eq!(
        (status, &answer["error"]),
        (503, &json!("ERR too many large requests at once: send it again later"))
    );
    // Words take more than their text.
    let words = |count: usize| format!("[\"ECHO\"{}]", ",0".repeat(count));
    for path in ["/", "/pipeline", "/multi-exec"] {
        let body = if path == "/" { words(2_000) } else { format!("[{}]", words(2_000)) };
        assert_eq!(server.post(path, &body).0, 503, "{path}");
    }
    for _ in 0..50 {
        assert_eq!(server.post("/", &echo(20_000)).0, 200);
        assert_eq!(server.post("/", &words(500)).0, 400, "Redis wants one");
        assert_eq!(server.post("/", &"[".repeat(20_000)).0, 400);
        assert_eq!(server.post("/", &echo(200_000)).0, 503);
    }
}

#[test]
fn what_is_refused_by_name_harms_nobody() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let commands = [
        "SUBSCRIBE c",
        "PSUBSCRIBE c",
        "MONITOR",
        "MULTI",
        "EXEC",
        "WATCH k",
        "SELECT 1",
        "AUTH x",
        "HELLO 3",
        "RESET",
        "QUIT",
        "CLIENT REPLY OFF",
        "BLPOP l 0",
        "BZPOPMIN l 0",
        "WAIT 1 0",
        "XREAD BLOCK 0 STREAMS s $",
        "CONFIG SET maxmemory 1",
        "SHUTDOWN NOSAVE",
        "DEBUG SLEEP 5",
        "REPLICAOF 127.0.0.1 1",
        "SCRIPT DEBUG YES",
        "POST /",
        "HOST: x",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let json = json!(words).to_string();
        let (status, body) = server.post("/", &json);
        assert!(status == 400 && body["error"].as_str().unwrap().contains("is not available"), "{command}");
        let (status, body) = server.post("/multi-exec", &format!("[[\"SET\",\"k\",1],{json}]"));
        assert!(status == 400 && body["error"].as_str().unwrap().contains("is not available"), "{command}");
        // Nor can a script do it: Redis sees to that.
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let script = format!("return redis.call({})", quoted.join(","));
        server.post("/", &json!(["EVAL", script, 0]).to_string());
        for path in ["/", "/multi-exec"] {
            let body = if path == "/" { r#"["ECHO","x"]"# } else { r#"[["ECHO","x"]]"# };
            assert_eq!(server.post(path, body).0, 200, "{path} after {command}");
        }
    }
    assert_eq!(
        server.run(r#"["GET","k"]"#),
        json!(null),
        "a transaction with a refused command does not run"
    );
}

/// The client crate closes a connection over which such an error comes: nobody else's request may be on it.
#[test]
fn an_error_that_is_no_text_harms_nobody() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let token = bearer(TOKEN);
    let fields = [("authorization", &*token)];
    let script = r#"["EVAL","return {err='MINE \\255x'}",0]"#;
    let error = json!({"error": "MINE \u{fffd}x"});
    let before = connections(&redis);
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..200 {
                        assert_eq!(server.run(r#"["PING"]"#), "PONG");
                    }
                })
            })
            .collect();
        while others.iter().any(|other| !other.is_finished()) {
            let unknown = server.send("GET", "/%ff/x", &fields, b"");
            assert_eq!(unknown.status, 400);
            assert!(unknown.body.contains("unknown command '\u{fffd}'"), "{}", unknown.body);
            assert_eq!(server.send("POST", "/set/k", &fields, b"\xff").status, 200);
            assert_eq!(server.post("/", script), (400, error.clone()));
            assert_eq!(server.post("/pipeline", &format!("[{script}]")), (200, json!([error])));
            assert_eq!(server.post("/multi-exec", &format!("[{script}]")), (200, json!([error])));
        }
    });
    assert_eq!(
        connections(&redis) - before,
        2 + 1,
        "one for all, one for transactions, and the one that asks"
    );
}

/// How many connections the server has had so far, that of this question included.
fn connections(redis: &RedisServer) -> u64 {
    let info = format!("{:?}", redis.run(&["INFO", "stats"]));
    let (_, rest) = info.split_once("total_connections_received:").unwrap();
    rest.chars().map_while(|digit| digit.to_digit(10)).fold(0, |sum, digit| sum * 10 + u64::from(digit))
}
