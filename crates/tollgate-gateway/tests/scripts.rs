//! Scripts under the SHA-1 of the text that the client has.

use serde_json::{Value, json};

use crate::support::{RedisServer, Server};

const SCRIPT: &str = "#!lua flags=allow-key-locking\nreturn redis.call('INCR', KEYS[1])";
const SHA: &str = "5c6e36d70d4ec2144321a8f9c663f6c612440510";

fn command(words: &[&str]) -> String {
    json!(words).to_string()
}

fn no_script() -> (u16, Value) {
    (400, json!({"error": "NOSCRIPT No matching script. Please use EVAL."}))
}

#[test]
fn a_script_goes_by_its_own_digest() {
    let mut redis = RedisServer::start();
    let server = Server::start(&redis);
    let run = |words: &[&str]| server.run(&command(words));
    let evalsha = command(&["EVALSHA", SHA, "1", "n"]);

    assert_eq!(server.post("/", &evalsha), no_script());
    assert_eq!(run(&["SCRIPT", "EXISTS", SHA]), json!([0]));
    assert_eq!(run(&["EVAL", SCRIPT, "1", "n"]), 1);
    assert_eq!(run(&["EVALSHA", SHA, "1", "n"]), 2);
    assert_eq!(run(&["evalsha", &SHA.to_uppercase(), "1", "n"]), 3);
    assert_eq!(run(&["SCRIPT", "EXISTS", SHA, &"0".repeat(40)]), json!([1, 0]));

    run(&["SCRIPT", "FLUSH"]);
    assert_eq!(server.post("/", &evalsha), no_script());
    assert_eq!(run(&["SCRIPT", "EXISTS", SHA]), json!([0]));
    assert_eq!(run(&["SCRIPT", "LOAD", SCRIPT]), SHA);
    assert_eq!(run(&["EVALSHA", SHA, "1", "n"]), 4);

    for path in ["/pipeline", "/multi-exec"] {
        let (status, answers) =
            server.post(path, &format!("[{evalsha},{}]", command(&["SCRIPT", "LOAD", SCRIPT])));
        assert_eq!((status, &answers[1]["result"]), (200, &json!(SHA)), "{path}");
        assert!(answers[0]["result"].is_u64(), "{path}");
    }

    // A Redis that knows nothing any more.
    redis.kill();
    redis.restart();
    while server.post("/", r#"["PING"]"#).0 != 200 {}
    assert_eq!(server.post("/", &evalsha), no_script());
    assert_eq!(run(&["EVAL", SCRIPT, "1", "n"]), 1);
    assert_eq!(run(&["EVALSHA", SHA, "1", "n"]), 2);
}

#[test]
fn other_flags_hold() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let script = "#!lua flags=allow-key-locking,no-writes\nreturn redis.call('INCR', KEYS[1])";
    let (status, answer) = server.post("/", &command(&["EVAL", script, "1", "n"]));
    let error = answer["error"].as_str().unwrap();
    assert!(
        status == 400 && error.contains("Write commands are not allowed from read-only scripts"),
        "{error}"
    );
    let script = "#!lua flags=no-such-flag\nreturn 1";
    assert!(server.post("/", &command(&["EVAL", script, "0"])).1["error"].as_str().unwrap().contains("flag"));
}

#[test]
fn errors_name_the_clients_script_and_its_lines() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let script = "#!lua flags=allow-key-locking\nlocal x = 1\nerror('here')";
    let sha = server.run(&command(&["SCRIPT", "LOAD", script]));
    let sha = sha.as_str().unwrap();
    for words in [["EVAL", script, "0"], ["EVALSHA", sha, "0"]] {
        let error = server.post("/", &command(&words)).1["error"].as_str().unwrap().to_owned();
        assert!(error.contains(":3: here") && error.contains(sha), "{error}");
    }
}
