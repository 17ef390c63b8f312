//! The first line of a script for Upstash, as stock Redis takes it.

/// Upstash lets scripts run beside each other if they say that they touch only the keys they declare. Stock
/// Redis refuses every flag it does not know.
const KEY_LOCKING: &str = "allow-key-locking";

/// The script without the flag for key locking, or `None` if it does not have it.
///
/// Other flags stay. Where none is left the line is emptied, because a bare `#!lua` means something else than no
/// such line at all. Its line break stays, so that the numbers of lines in error messages do.
pub(crate) fn without_key_locking(script: &[u8]) -> Option<Vec<u8>> {
    let end = script.iter().position(|&byte| byte == b'\n').unwrap_or(script.len());
    let (line, rest) = script.split_at(end);
    let line = std::str::from_utf8(line).ok()?;
    let break_begins = line.trim_end_matches('\r').len();
    let mut words = line.split_ascii_whitespace();
    if words.next() != Some("#!lua") || !line.contains(KEY_LOCKING) {
        return None;
    }

    let mut found = false;
    let mut kept = String::new();
    for word in words {
        let Some(flags) = word.strip_prefix("flags=") else {
            kept = kept + " " + word;
            continue;
        };
        let others: Vec<&str> = flags.split(',').filter(|&flag| flag != KEY_LOCKING).collect();
        found |= others.len() < flags.split(',').count();
        if !others.is_empty() {
            kept = kept + " flags=" + &others.join(",");
        }
    }
    if !found {
        return None;
    }
    let first = if kept.is_empty() { String::new() } else { format!("#!lua{kept}") };
    Some([first.as_bytes(), &line.as_bytes()[break_begins..], rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_flag_goes() {
        for (script, expected) in [
            ("#!lua flags=allow-key-locking\nreturn 1", "\nreturn 1"),
            ("#!lua flags=allow-key-locking\r\nreturn 1", "\r\nreturn 1"),
            ("#!lua flags=allow-key-locking,no-writes\nreturn 1", "#!lua flags=no-writes\nreturn 1"),
            ("#!lua flags=no-writes,allow-key-locking\nreturn 1", "#!lua flags=no-writes\nreturn 1"),
            ("#!lua  flags=a,allow-key-locking,b  \nx", "#!lua flags=a,b\nx"),
            ("#!lua flags=allow-key-locking flags=no-writes\nx", "#!lua flags=no-writes\nx"),
            ("#!lua name=x flags=allow-key-locking\nx", "#!lua name=x\nx"),
            ("#!lua flags=allow-key-locking", ""),
        ] {
            let stripped = without_key_locking(script.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(stripped).unwrap(), expected, "{script:?}");
        }
    }

    #[test]
    fn other_scripts_are_left_alone() {
        for script in [
            "",
            "return 1",
            "#!lua\nreturn 1",
            "#!lua flags=no-writes\nreturn 1",
            "#!lua flags=allow-key-locking-not\nreturn 1",
            "#!lua allow-key-locking\nreturn 1",
            "#!luau flags=allow-key-locking\nreturn 1",
            "\n#!lua flags=allow-key-locking\nreturn 1",
            "-- #!lua flags=allow-key-locking\nreturn 1",
            "return 'flags=allow-key-locking'",
        ] {
            assert_eq!(without_key_locking(script.as_bytes()), None, "{script:?}");
        }
        assert_eq!(without_key_locking(b"#!lua \xff flags=allow-key-locking\n"), None);
    }
}
