//! One script, two servers.

use tollgate_script::{Dialect, Script};
use tollgate_testbed::{RedisServer, Value};

#[test]
fn the_dialects_differ_in_their_first_line_only() {
    for script in Script::ALL {
        let (first, rest) = script.text(Dialect::Upstash).split_once('\n').expect("there are lines");
        assert_eq!(first, "#!lua flags=allow-key-locking");
        assert_eq!(rest, script.text(Dialect::Redis));
        assert!(!rest.starts_with("#!"), "stock Redis refuses the flag");
    }
}

#[test]
fn a_server_knows_each_script_by_the_same_digest() {
    let server = RedisServer::start();
    for script in Script::ALL {
        let loaded = server.run(&["SCRIPT", "LOAD", script.text(Dialect::Redis)]);
        assert_eq!(loaded, Value::BulkString(script.sha1(Dialect::Redis).into()), "{script:?}");
        // Stock Redis knows a first line without that flag.
        let plain = script.text(Dialect::Upstash).replacen(" flags=allow-key-locking", "", 1);
        server.run(&["SCRIPT", "LOAD", &plain]);
        assert!(server.try_run(&["SCRIPT", "LOAD", script.text(Dialect::Upstash)]).is_err());
    }
    let mut digests: Vec<_> = Script::ALL
        .iter()
        .flat_map(|script| [Dialect::Redis, Dialect::Upstash].map(|dialect| script.sha1(dialect)))
        .collect();
    assert!(digests.iter().all(|digest| digest.len() == 40));
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 2 * Script::ALL.len());
}
