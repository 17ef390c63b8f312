//! Which commands the gateway lets through.
//!
//! All clients share one connection to Redis. A command that changes the connection's state would change it for
//! everybody, one that blocks would hold everybody up, and one that administers the server is not for whoever
//! holds a token. Those are refused by name; what is not named here goes to Redis, which knows best.

use crate::{parse::Words, token::Access};

/// Why a command is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Connection,
    Subscription,
    Blocking,
    Administration,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Self::Connection => {
                "it changes the state of a connection, which all clients share; /multi-exec takes transactions"
            }
            Self::Subscription => "it turns a connection, which all clients share, into a stream",
            Self::Blocking => "it blocks a connection, which all clients share",
            Self::Administration => "it administers the server; connect to Redis itself for that",
        }
    }
}

// Redis takes `POST` and `HOST:` for a browser that was tricked into talking to it, and hangs up.
#[rustfmt::skip]
const REFUSED: [(Reason, &[&str]); 4] = [
    (
        Reason::Connection,
        &[
            "ASKING", "AUTH", "CLIENT", "DISCARD", "EXEC", "HELLO", "HOST:", "MULTI", "POST", "QUIT",
            "READONLY", "READWRITE", "RESET", "SELECT", "UNWATCH", "WATCH",
        ],
    ),
    (
        Reason::Subscription,
        &["MONITOR", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE", "UNSUBSCRIBE"],
    ),
    (
        Reason::Blocking,
        &[
            "BLMOVE", "BLMPOP", "BLPOP", "BRPOP", "BRPOPLPUSH", "BZMPOP", "BZPOPMAX", "BZPOPMIN", "WAIT",
            "WAITAOF",
        ],
    ),
    (
        Reason::Administration,
        &[
            "ACL", "BGREWRITEAOF", "BGSAVE", "CLUSTER", "COMMANDLOG", "CONFIG", "DEBUG", "FAILOVER",
            "LATENCY", "MIGRATE", "MODULE", "PFDEBUG", "PFSELFTEST", "PSYNC", "REPLCONF", "REPLICAOF",
            "RESTORE-ASKING", "ROLE", "SAVE", "SENTINEL", "SHUTDOWN", "SLAVEOF", "SLOWLOG", "SWAPDB",
            "SYNC",
        ],
    ),
];

/// Subcommands of commands that are otherwise let through.
const REFUSED_SUBCOMMANDS: [(Reason, &str, &[&str]); 3] = [
    // A debugged script runs in a session of its connection.
    (Reason::Connection, "SCRIPT", &["DEBUG"]),
    (Reason::Administration, "SCRIPT", &["KILL"]),
    (Reason::Administration, "FUNCTION", &["KILL"]),
];

/// What a read-only token may ask for: whatever reads keys that the client can name. `KEYS` and `SCAN` would
/// tell it about all others, and scripts could do either.
#[rustfmt::skip]
const READ_ONLY: &[&str] = &[
    "BITCOUNT", "BITFIELD_RO", "BITPOS", "DBSIZE", "DUMP", "ECHO", "EXISTS", "EXPIRETIME", "GEODIST",
    "GEOHASH", "GEOPOS", "GEORADIUSBYMEMBER_RO", "GEORADIUS_RO", "GEOSEARCH", "GET", "GETBIT", "GETRANGE",
    "HEXISTS", "HEXPIRETIME", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "HPEXPIRETIME", "HPTTL",
    "HRANDFIELD", "HSCAN", "HSTRLEN", "HTTL", "HVALS", "JSON.ARRINDEX", "JSON.ARRLEN", "JSON.GET",
    "JSON.MGET", "JSON.OBJKEYS", "JSON.OBJLEN", "JSON.STRLEN", "JSON.TYPE", "LCS", "LINDEX", "LLEN", "LPOS",
    "LRANGE", "MGET", "OBJECT", "PEXPIRETIME", "PFCOUNT", "PING", "PTTL", "SCARD", "SDIFF", "SINTER",
    "SINTERCARD", "SISMEMBER", "SMEMBERS", "SMISMEMBER", "SORT_RO", "SRANDMEMBER", "SSCAN", "STRLEN",
    "SUBSTR", "SUNION", "TIME", "TOUCH", "TTL", "TYPE", "XINFO", "XLEN", "XPENDING", "XRANGE", "XREAD",
    "XREVRANGE", "ZCARD", "ZCOUNT", "ZDIFF", "ZINTER", "ZINTERCARD", "ZLEXCOUNT", "ZMSCORE", "ZRANDMEMBER",
    "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANK", "ZREVRANGE", "ZREVRANGEBYLEX", "ZREVRANGEBYSCORE",
    "ZREVRANK", "ZSCAN", "ZSCORE", "ZUNION",
];

/// The text of the error that the command gets instead of being run, if it is not to be run.
pub(crate) fn refusal(words: &Words<'_>, access: Access) -> Option<String> {
    let name = words.first().map_or(&b""[..], |word| word);
    if let Some(reason) = refused_because(name, words) {
        return Some(format!("ERR Command is not available: '{}': {}", shown(name), reason.text()));
    }
    let may = access == Access::Full || is_one_of(name, READ_ONLY);
    (!may).then(|| {
        let name = shown(name).to_ascii_lowercase();
        format!("NOPERM this user has no permissions to run the '{name}' command or its subcommand")
    })
}

fn refused_because(name: &[u8], words: &Words<'_>) -> Option<Reason> {
    if let Some((reason, _)) = REFUSED.iter().find(|(_, names)| is_one_of(name, names)) {
        return Some(*reason);
    }
    if blocks(name, words) {
        return Some(Reason::Blocking);
    }
    let subcommand = words.get(1)?;
    let found = REFUSED_SUBCOMMANDS
        .iter()
        .find(|(_, command, names)| is(name, command) && is_one_of(subcommand, names));
    found.map(|(reason, ..)| *reason)
}

/// Whether a read of streams asks to wait. Its options stand before `STREAMS`; a key, a group or a consumer may
/// have the name of an option.
fn blocks(name: &[u8], words: &Words<'_>) -> bool {
    if !is(name, "XREAD") && !is(name, "XREADGROUP") {
        return false;
    }
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let values = match word {
            word if is(word, "BLOCK") => return true,
            word if is(word, "STREAMS") => return false,
            word if is(word, "GROUP") => 2,
            word if is(word, "COUNT") => 1,
            _ => 0,
        };
        for _ in 0..values {
            words.next();
        }
    }
    false
}

/// Compares as Redis does: without regard to case, and only up to the first NUL, beyond which whatever stands is ignored.
fn is(word: &[u8], name: &str) -> bool {
    is_one_of(word, &[name])
}

fn is_one_of(word: &[u8], names: &[&str]) -> bool {
    let end = word.iter().position(|&byte| byte == 0).unwrap_or(word.len());
    names.iter().any(|name| word[..end].eq_ignore_ascii_case(name.as_bytes()))
}

/// At most so much of a name is repeated.
fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(&name[..name.len().min(64)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn answer(line: &str, access: Access) -> Option<String> {
        refusal(&line.split(' ').map(|word| Cow::Borrowed(word.as_bytes())).collect(), access)
    }

    #[test]
    fn what_would_harm_others_is_refused_in_any_case() {
        for line in REFUSED.iter().flat_map(|(_, names)| *names) {
            // What follows a NUL is nothing to Redis.
            for line in [line.to_string(), line.to_lowercase(), format!("{line} x y"), format!("{line}\0z x")]
            {
                let text = answer(&line, Access::Full).unwrap_or_else(|| panic!("{line} went through"));
                assert!(text.starts_with("ERR Command is not available: '"), "{text}");
                assert_eq!(answer(&line, Access::ReadOnly), Some(text));
            }
        }
        for line in [
            "XREAD BLOCK 0 STREAMS k $",
            "xread count 1 block 5 streams k $",
            "XREADGROUP GROUP g c BLOCK 0 STREAMS k >",
            "XREADGROUP GROUP STREAMS c NOACK BLOCK 0 STREAMS k >",
            "XREAD BLOCK\0 0 STREAMS k $",
            "XREADGROUP GROUP\0 g STREAMS BLOCK 0 STREAMS k >",
            "XREAD\0x BLOCK 0 STREAMS k $",
            "script debug yes",
            "SCRIPT\0 DEBUG\0x yes",
            "SCRIPT KILL",
            "FUNCTION KILL",
        ] {
            assert!(answer(line, Access::Full).is_some(), "{line}");
        }
    }

    #[test]
    fn what_harms_nobody_goes_through() {
        for line in [
            "GET k",
            "SET k v",
            "EVAL x 0",
            "SCRIPT LOAD x",
            "SCRIPT FLUSH",
            "FLUSHALL",
            "SCAN 0",
            "KEYS *",
            "PUBLISH a b",
            "INFO",
            "LPOP k",
            "JSON.SET k $ 1",
            "NEWCOMMAND",
            "XREAD COUNT 1 STREAMS BLOCK 0",
            "XREADGROUP GROUP BLOCK BLOCK STREAMS k >",
            "SET BLOCK 1",
        ] {
            assert_eq!(answer(line, Access::Full), None, "{line}");
        }
    }

    #[test]
    fn a_read_only_token_reads() {
        for line in ["GET k", "get k", "HGETALL k", "XREAD STREAMS k 0", "PING"] {
            assert_eq!(answer(line, Access::ReadOnly), None, "{line}");
        }
        for line in
            ["SET k v", "KEYS *", "SCAN 0", "EVAL x 0", "EVAL_RO x 0", "SCRIPT LOAD x", "FLUSHALL", "NEW"]
        {
            let name = line.split(' ').next().unwrap().to_lowercase();
            let text =
                format!("NOPERM this user has no permissions to run the '{name}' command or its subcommand");
            assert_eq!(answer(line, Access::ReadOnly), Some(text));
        }
    }
}
