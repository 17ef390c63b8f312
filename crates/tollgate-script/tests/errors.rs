//! What a server's errors mean.

use tollgate_script::{ServerAnswer, server_error};
use tollgate_store::StoreErrorKind::{self, Busy, Reject};

#[derive(Debug, PartialEq)]
enum Then {
    SendTheText,
    ConnectAnew,
    GiveUp,
}

fn then(text: &str) -> (Then, StoreErrorKind, String) {
    let answer = server_error(text);
    let then = match answer {
        ServerAnswer::NoScript => Then::SendTheText,
        ServerAnswer::Elsewhere(_) => Then::ConnectAnew,
        ServerAnswer::Error(_) => Then::GiveUp,
    };
    let error = answer.into_error();
    (then, error.kind(), error.to_string())
}

#[test]
fn each_error_has_a_kind_and_says_what_to_do() {
    for (text, next, kind, says) in [
        ("NOSCRIPT No matching script. Please use EVAL.", Then::SendTheText, Busy, "flushes its scripts"),
        ("-NOSCRIPT No matching script.", Then::SendTheText, Busy, "flushes its scripts"),
        ("READONLY You can't write against a read only replica.", Then::ConnectAnew, Busy, "replica"),
        ("LOADING Redis is loading the dataset in memory", Then::ConnectAnew, Busy, "just started"),
        ("MASTERDOWN Link with MASTER is down", Then::ConnectAnew, Busy, "lost its primary"),
        ("OOM command not allowed when used memory > 'maxmemory'.", Then::GiveUp, Busy, "maxmemory"),
        ("BUSY Redis is busy running a script.", Then::GiveUp, Busy, "another script"),
        ("MISCONF Redis is configured to save RDB snapshots", Then::GiveUp, Busy, "cannot save"),
        ("NOREPLICAS Not enough good replicas to write.", Then::GiveUp, Busy, "fewer replicas"),
        ("TRYAGAIN Multiple keys request during rehashing of slot", Then::GiveUp, Busy, "cluster"),
        ("CLUSTERDOWN Hash slot not served", Then::GiveUp, Busy, "cluster"),
        ("MOVED 3999 127.0.0.1:6381", Then::GiveUp, Reject, "cluster, which is not supported"),
        ("CROSSSLOT Keys in request don't hash to the same slot", Then::GiveUp, Reject, "cluster"),
        (
            "NOPERM this user has no permissions to run the 'eval' command",
            Then::GiveUp,
            Reject,
            "read-only token",
        ),
        ("NOAUTH Authentication required.", Then::GiveUp, Reject, "password"),
        ("WRONGPASS invalid or missing auth token", Then::GiveUp, Reject, "token"),
        (
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            Then::GiveUp,
            Reject,
            "another type",
        ),
        ("TOLLGATE a counter is not a whole number", Then::GiveUp, Reject, "does not write"),
        (
            "ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.",
            Then::GiveUp,
            Reject,
            "daily request limit",
        ),
        ("ERR max requests limit exceeded", Then::GiveUp, Reject, "max requests limit exceeded"),
        ("ERR DB capacity quota exceeded", Then::GiveUp, Reject, "DB capacity quota exceeded"),
        ("ERR max number of clients reached", Then::GiveUp, Busy, "max number of clients"),
        ("ERR max concurrent connections exceeded", Then::GiveUp, Busy, "max concurrent connections"),
        (
            "ERR unknown command 'EVALSHA', with args beginning with: 'c0ffee'",
            Then::GiveUp,
            Reject,
            "unknown command",
        ),
        (
            "ERR The user executing the script can't run this command or subcommand script: c0ffee, on @user_script:3.",
            Then::GiveUp,
            Reject,
            "NOPERM",
        ),
        ("ERR Protocol error: unauthenticated multibulk length", Then::GiveUp, Reject, "NOAUTH"),
        ("", Then::GiveUp, Reject, "the server says"),
    ] {
        let (then, found, error) = then(text);
        assert_eq!((&then, found), (&next, kind), "{text}");
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn an_error_inside_a_script_is_known_in_the_form_of_older_servers_too() {
    let call =
        "ERR Error running script (call to f_0123456789abcdef0123456789abcdef01234567): @user_script:12:";
    for (text, kind, says) in [
        (format!("{call} WRONGTYPE Operation against a key"), Reject, "another type"),
        (format!("{call} OOM command not allowed"), Busy, "maxmemory"),
        (format!("{call} @user_script: 12: -READONLY You can't write"), Busy, "replica"),
        ("@user_script: 12: WRONGTYPE Operation against a key".to_owned(), Reject, "another type"),
        ("@user_script: 12: -OOM command not allowed".to_owned(), Busy, "maxmemory"),
        (format!("{call} something else"), Reject, "Error running script"),
    ] {
        let (_, found, error) = then(&text);
        assert_eq!(found, kind, "{text}");
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn no_key_is_repeated() {
    for text in [
        "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: limit:ask:203.0.113.7",
        "ERR unknown command 'evalsha', with args beginning with: 'abc' '1' 'limit:ask:203.0.113.7'",
        "limit:ask:203.0.113.7",
        "203.0.113.7 is odd",
        "WRONGTYPE limit:ask:203.0.113.7",
    ] {
        let (_, _, error) = then(text);
        assert!(!error.contains("203.0.113.7") && !error.contains("113"), "{error}");
    }
    let long = "word ".repeat(1_000);
    assert!(then(&long).2.len() < 200);
}
