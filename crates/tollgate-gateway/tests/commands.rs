//! Single commands and pipelines: what comes back for what is sent.

use serde_json::{Value, json};

use crate::support::{READ_ONLY_TOKEN, RedisServer, Server, TOKEN, bearer};

#[test]
fn single_commands() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    for (command, status, expected) in [
        (r#"["PING"]"#, 200, json!({"result": "PONG"})),
        (r#"["set","k","v"]"#, 200, json!({"result": "OK"})),
        (r#"["GET","k"]"#, 200, json!({"result": "v"})),
        (r#"["GET","missing"]"#, 200, json!({"result": null})),
        (r#"["SET","n",9007199254740993]"#, 200, json!({"result": "OK"})),
        (r#"["GET","n"]"#, 200, json!({"result": "9007199254740993"})),
        (r#"["INCRBY","n",1]"#, 200, json!({"result": 9_007_199_254_740_994_i64})),
        (r#"["SET","f",1.50]"#, 200, json!({"result": "OK"})),
        (r#"["GET","f"]"#, 200, json!({"result": "1.50"})),
        (r#"["SET","b",true]"#, 200, json!({"result": "OK"})),
        (r#"["GET","b"]"#, 200, json!({"result": "true"})),
        (r#"["INCRBYFLOAT","x",1.5]"#, 200, json!({"result": "1.5"})),
        (r#"["RPUSH","l","a",1]"#, 200, json!({"result": 2})),
        (r#"["LRANGE","l",0,-1]"#, 200, json!({"result": ["a", "1"]})),
        (r#"["HSET","h","f","v"]"#, 200, json!({"result": 1})),
        (r#"["HGETALL","h"]"#, 200, json!({"result": ["f", "v"]})),
        (
            r#"["EVAL","return {1,1.9,true,false,'s',redis.status_reply('OK'),{2}}",0]"#,
            200,
            json!({"result": [1, 1, 1, null, "s", "OK", [2]]}),
        ),
        (
            r#"["LPUSH","k","x"]"#,
            400,
            json!({"error": "WRONGTYPE Operation against a key holding the wrong kind of value"}),
        ),
        (r#"["GET"]"#, 400, json!({"error": "ERR wrong number of arguments for 'get' command"})),
    ] {
        assert_eq!(server.post("/", command), (status, expected), "{command}");
    }
}

#[test]
fn strings_are_encoded_when_asked_for() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let token = bearer(TOKEN);
    let fields = [("authorization", &*token), ("upstash-encoding", "base64")];
    let post = |path: &str, body: &str| server.send("POST", path, &fields, body.as_bytes()).json();
    for (command, expected) in [
        (r#"["SET","k","OK"]"#, json!({"result": "OK"})),
        (r#"["GET","k"]"#, json!({"result": "T0s="})),
        (r#"["PING"]"#, json!({"result": "UE9ORw=="})),
        (r#"["STRLEN","k"]"#, json!({"result": 2})),
        (
            r#"["EVAL","return {redis.status_reply('OK'),{'OK'},1}",0]"#,
            json!({"result": ["T0s=", ["T0s="], 1]}),
        ),
        (r#"["GET"]"#, json!({"error": "ERR wrong number of arguments for 'get' command"})),
    ] {
        assert_eq!(post("/", command), expected, "{command}");
    }
    for path in ["/pipeline", "/multi-exec"] {
        let answer = post(path, r#"[["SET","k","a"],["GET","k"],["LPUSH","k","x"],["MGET","k","x"]]"#);
        assert_eq!(answer[0], json!({"result": "OK"}));
        assert_eq!(answer[1], json!({"result": "YQ=="}));
        assert!(answer[2]["error"].as_str().unwrap().starts_with("WRONGTYPE "));
        assert_eq!(answer[3], json!({"result": ["YQ==", null]}));
    }
}

#[test]
fn the_path_form() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let token = bearer(TOKEN);
    let fields = [("authorization", &*token)];
    for (method, path, body, expected) in [
        ("GET", "/set/k/v", &b""[..], json!({"result": "OK"})),
        ("GET", "/GET/k", b"", json!({"result": "v"})),
        ("GET", "/get/k/", b"", json!({"result": "v"})),
        ("POST", "/set/k?EX=100&NX", b"not again", json!({"result": null})),
        ("PUT", "/set/k?EX=100", b"posted\n", json!({"result": "OK"})),
        ("GET", "/get/k", b"", json!({"result": "posted\n"})),
        ("GET", "/ttl/k", b"", json!({"result": 100})),
        ("POST", "/set/a%2Fb%20c", b"\x00\xff", json!({"result": "OK"})),
        ("GET", "/strlen/a%2Fb%20c", b"", json!({"result": 2})),
        ("POST", "/incr/m", b"", json!({"result": 1})),
        ("PUT", "/", br#"["PING"]"#, json!({"result": "PONG"})),
    ] {
        assert_eq!(server.send(method, path, &fields, body).json(), expected, "{method} {path}");
    }
    for path in ["/incr/n", "/get/k", "/pipeline"] {
        let head = server.send("HEAD", path, &fields, b"");
        assert_eq!((head.status, &*head.body), (405, ""), "{path}");
    }
    assert_eq!(server.run(r#"["GET","n"]"#), json!(null));
    assert_eq!(server.send("HEAD", "/", &[], b"").status, 200);
    let query = format!("/set/k/v?_token={TOKEN}&EX=7");
    assert_eq!(server.send("GET", &query, &[], b"").json(), json!({"result": "OK"}));
    assert_eq!(server.run(r#"["TTL","k"]"#), 7);
}

#[test]
fn a_pipeline_has_an_answer_for_each_command() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let (status, answers) = server.post(
        "/pipeline",
        r#"[["SET","k",1],["BLPOP","l",0],["INCR","k"],["LPUSH","k",1],["NOSUCH"],["EVALSHA","0","0"],["GET","k"]]"#,
    );
    assert_eq!(status, 200);
    let shown: Vec<String> = answers.as_array().unwrap().iter().map(Value::to_string).collect();
    for (answer, begins) in shown.iter().zip([
        r#"{"result":"OK"}"#,
        r#"{"error":"ERR Command is not available: 'BLPOP'"#,
        r#"{"result":2}"#,
        r#"{"error":"WRONGTYPE "#,
        r#"{"error":"ERR unknown command 'NOSUCH'"#,
        r#"{"error":"NOSCRIPT No matching script. Please use EVAL."#,
        r#"{"result":"2"}"#,
    ]) {
        assert!(answer.starts_with(begins.trim_end_matches("\"}")), "{answer}");
    }
    assert_eq!(shown.len(), 7);
    // Not one of them runs.
    let (status, answers) = server.post("/pipeline", r#"[["WATCH","k"],["SELECT",1]]"#);
    assert_eq!((status, answers.as_array().unwrap().len()), (200, 2));
}

#[test]
fn a_read_only_token_reads() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    server.run(r#"["SET","k","v"]"#);
    let post = |path: &str, body: &str| server.post_as(READ_ONLY_TOKEN, path, body);
    let refused = |name: &str| json!({"error": format!("NOPERM this user has no permissions to run the '{name}' command or its subcommand")});
    assert_eq!(post("/", r#"["GET","k"]"#), (200, json!({"result": "v"})));
    assert_eq!(post("/", r#"["SET","k","x"]"#), (400, refused("set")));
    assert_eq!(post("/", r#"["EVAL","return redis.call('DEL','k')",0]"#), (400, refused("eval")));
    assert_eq!(
        post("/pipeline", r#"[["GET","k"],["DEL","k"]]"#),
        (200, json!([{"result": "v"}, refused("del")]))
    );
    assert_eq!(post("/multi-exec", r#"[["GET","k"],["DEL","k"]]"#), (400, refused("del")));
    assert_eq!(server.run(r#"["GET","k"]"#), "v");
}

#[test]
fn every_answer_has_a_sync_token_and_health_needs_no_token() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let answer = server.send("GET", "/", &[], b"");
    assert_eq!((answer.status, answer.json()), (200, json!({"status": "ok"})));
    let token = bearer(TOKEN);
    let fields = [("authorization", &*token), ("upstash-sync-token", ""), ("content-type", "text/plain")];
    let answer = server.send("POST", "/", &fields, br#"["PING"]"#);
    assert_eq!((answer.status, answer.field("content-type")), (200, "application/json"));
    assert!(!answer.field("upstash-sync-token").is_empty());
    assert_eq!(server.gateway.connections_accepted(), 1, "the connection is kept");
}

#[test]
fn slashes_at_the_end_of_a_base_url_do_no_harm() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    for (path, body) in
        [("//", "[\"PING\"]"), ("//pipeline", "[[\"PING\"]]"), ("/multi-exec/", "[[\"PING\"]]")]
    {
        assert_eq!(server.post(path, body).0, 200, "{path}");
    }
    assert_eq!(server.post("//ping", "").1, json!({"result": "PONG"}));
}
