//! `/multi-exec`: all or nothing, with nobody in between.

use serde_json::json;

use crate::support::{RedisServer, Server};

#[test]
fn a_transaction_runs_as_a_whole_or_not_at_all() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let wrong_type = "WRONGTYPE Operation against a key holding the wrong kind of value";
    for (commands, status, expected) in [
        (
            r#"[["SET","k",1],["INCR","k"],["GET","k"]]"#,
            200,
            json!([{"result": "OK"}, {"result": 2}, {"result": "2"}]),
        ),
        // What fails while it runs does not stop the others.
        (
            r#"[["INCR","k"],["LPUSH","k","x"],["INCR","k"]]"#,
            200,
            json!([{"result": 3}, {"error": wrong_type}, {"result": 4}]),
        ),
        // What is not even queued does.
        (
            r#"[["INCR","k"],["SET","k"],["NOSUCH"]]"#,
            400,
            json!({"error": "ERR wrong number of arguments for 'set' command"}),
        ),
        (r#"[["GET","k"]]"#, 200, json!([{"result": "4"}])),
    ] {
        assert_eq!(server.post("/multi-exec", commands), (status, expected), "{commands}");
    }
}

/// Where MULTI is not allowed, what follows it would run one by one.
#[test]
fn a_user_who_may_not_begin_a_transaction_runs_nothing_of_it() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    let commands = r#"[["SET","k",1],["INCR","k"]]"#;
    for (allowed, connects_anew) in
        [("+multi", false), ("-multi", false), ("-multi", true), ("-discard", true)]
    {
        redis.run(&["ACL", "SETUSER", "default", "+@all", allowed]);
        if connects_anew {
            redis.run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        }
        redis.run(&["DEL", "k"]);
        let (status, answer) = server.post("/multi-exec", commands);
        if allowed == "+multi" {
            assert_eq!(status, 200, "{answer}");
        } else {
            assert_eq!(status, 400, "{allowed}: {answer}");
            assert!(answer["error"].as_str().unwrap().starts_with("NOPERM "), "{answer}");
            assert_eq!(server.run(r#"["EXISTS","k"]"#), 0, "{allowed}");
        }
    }
}

#[test]
fn nobody_sees_half_a_transaction() {
    let redis = RedisServer::start();
    let server = Server::start(&redis);
    server.run(r#"["MSET","a",0,"b",0]"#);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let (_, answers) = server.post("/multi-exec", r#"[["INCR","a"],["INCR","b"]]"#);
                    assert_eq!(answers[0], answers[1], "two transactions ran at once");
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                let seen = server.run(r#"["MGET","a","b"]"#);
                assert_eq!(seen[0], seen[1], "half a transaction was seen");
            }
        });
    });
    assert_eq!(server.run(r#"["GET","b"]"#), "600");
}

/// The script keeps Redis busy while all of them arrive.
#[test]
fn many_at_once_take_turns_and_leave_redis_to_others() {
    let redis = RedisServer::start_with(&["--maxclients", "50"]);
    let server = Server::start(&redis);
    let busy = r#"[["EVAL","for _ = 1, 1e6 do end return redis.call('INCR', KEYS[1])",1,"n"]]"#;
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| assert_eq!(server.post("/multi-exec", busy).0, 200));
        }
    });
    assert_eq!(server.run(r#"["GET","n"]"#), "100");
}
