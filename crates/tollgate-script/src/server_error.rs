//! What a server's error means.

use tollgate_store::{StoreError, StoreErrorKind};

/// What a server's error means for who sent the call.
///
/// The enum is exhaustive on purpose: there is a way of going on for each.
#[derive(Debug)]
pub enum ServerAnswer {
    /// The server does not know the script by its digest, and has done nothing: send its text.
    NoScript,
    /// This server cannot serve, but the one that a new connection leads to may: drop the connection, then give the error.
    Elsewhere(StoreError),
    /// The call failed.
    Error(StoreError),
}

impl ServerAnswer {
    /// The error, whatever else is to be done.
    #[must_use]
    pub fn into_error(self) -> StoreError {
        match self {
            Self::NoScript => StoreError::new(
                StoreErrorKind::Busy,
                "the server forgot the script as it was sent: something flushes its scripts all the time",
            ),
            Self::Elsewhere(error) | Self::Error(error) => error,
        }
    }
}

/// What an error text of a server means: `NOSCRIPT No matching script.`, with or without the `-` of the protocol.
///
/// Nothing of the text is repeated but its words up to the first sign or digit, since what follows may be a key.
#[must_use]
pub fn server_error(text: &str) -> ServerAnswer {
    use StoreErrorKind::{Busy, Reject};

    let text = innermost(text.trim_start_matches('-').trim_start());
    let code = text.split([' ', '\r', '\n', ':']).next().unwrap_or_default();
    let error = |kind, detail: &str| ServerAnswer::Error(StoreError::new(kind, format!("{code}: {detail}")));
    let elsewhere =
        |detail: &str| ServerAnswer::Elsewhere(StoreError::new(Busy, format!("{code}: {detail}")));
    match code {
        "NOSCRIPT" => ServerAnswer::NoScript,
        "READONLY" => {
            elsewhere("this server is a replica: it is failing over, or the URL should name the primary")
        }
        "LOADING" => elsewhere("the server has just started and is reading its data"),
        "MASTERDOWN" => elsewhere("this replica has lost its primary"),
        "OOM" => error(Busy, "the server is out of memory: raise `maxmemory`, or let it evict"),
        "BUSY" => error(Busy, "the server is running another script that takes too long"),
        "MISCONF" => error(Busy, "the server cannot save its data and takes no writes: see its log"),
        "NOREPLICAS" => error(Busy, "the server has fewer replicas than it must have to take writes"),
        "TRYAGAIN" | "CLUSTERDOWN" => error(Busy, "the cluster is moving slots or is incomplete"),
        "MOVED" | "ASK" | "CROSSSLOT" => {
            error(Reject, "this server is a node of a cluster, which is not supported: use a single primary")
        }
        "NOPERM" => error(
            Reject,
            "this user may not run scripts or touch these keys: a read-only token cannot count, use the standard one; \
             an ACL user needs EVALSHA, EVAL, GET, SET, EXISTS, INCRBY, PTTL, PEXPIRE, HMGET, HSET and DEL on the prefix's keys",
        ),
        "NOAUTH" => error(Reject, "the server wants a password: give it in the URL"),
        "WRONGPASS" => error(Reject, "the server does not know this user, password or token"),
        "WRONGTYPE" => error(
            Reject,
            "a key holds a value of another type: give each policy a name of its own, and a new one when its algorithm changes",
        ),
        "TOLLGATE" => error(
            Reject,
            "a key holds a value that this library does not write: something else writes under the prefix",
        ),
        _ if text.contains("The user executing the script can't") => server_error("NOPERM"),
        // What a server that wants a password says to a command of more than ten words.
        _ if text.contains("unauthenticated") => server_error("NOAUTH"),
        _ => {
            let words = plain_words(text);
            let is_full = ["max number of clients", "max concurrent connections"]
                .iter()
                .any(|full| words.contains(full));
            let kind = if is_full { Busy } else { Reject };
            ServerAnswer::Error(StoreError::new(kind, format!("the server says `{words}`")))
        }
    }
}

/// The error of the command that failed inside a script, where an older server wraps it: `ERR Error running script (call to
/// f_…): @user_script:12: WRONGTYPE …`, or within the script only `@user_script: 12: WRONGTYPE …`.
fn innermost(text: &str) -> &str {
    let is_wrapped = ["ERR Error running script", "@user_script"].iter().any(|begin| text.starts_with(begin));
    let wrapped = text.rsplit_once(": ").filter(|_| is_wrapped);
    match wrapped {
        Some((_, inner)) if is_code(inner) => inner.trim_start_matches('-'),
        _ => text,
    }
}

fn is_code(text: &str) -> bool {
    let word = text.trim_start_matches('-').split(' ').next().unwrap_or_default();
    word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// The text up to its first sign or digit.
fn plain_words(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphabetic() && c != ' ' && c != '-');
    text[..end.unwrap_or(text.len()).min(LONGEST)].trim_end()
}

const LONGEST: usize = 120;
