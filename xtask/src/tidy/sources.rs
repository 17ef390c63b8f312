//! How a source file opens, how long it may be, and what it may not contain.

use std::path::Path;

use super::Problems;
use crate::failure::{Result, failure};
use crate::{process, workspace};

const MOST_LINES: usize = 600;

/// The only source that reads the wall clock, and the places that are not part of any library.
const CLOCK: &str = "crates/tollgate-guard/src/clock.rs";
const OUTSIDE: [&str; 2] = ["crates/tollgate-bench/", "xtask/"];

/// A text that may not appear in code or comments, and why. They are written in two halves so that this file
/// does not break its own rules.
const FORBIDDEN: [(&str, &str); 7] = [
    (
        concat!("#[all", "ow("),
        "use `#[expect(…, reason = \"…\")]`, which reports when it is no longer needed",
    ),
    (
        concat!("#![all", "ow("),
        "use `#![expect(…, reason = \"…\")]`, which reports when it is no longer needed",
    ),
    (concat!("#[ign", "ore"), "a test runs or is not there"),
    (concat!("to", "do!("), "finish it or leave it out"),
    (concat!("unimple", "mented!("), "finish it or leave it out"),
    (concat!("TO", "DO"), "what is left to do belongs in the issue tracker"),
    (concat!("FIX", "ME"), "what is left to do belongs in the issue tracker"),
];

pub(super) fn problems() -> Result<Problems> {
    let mut problems = Problems::new();
    for path in files()? {
        let file = workspace::root().join(&path);
        let text = std::fs::read_to_string(&file)
            .map_err(|error| failure(format!("{path} cannot be read: {error}")))?;
        problems.extend(file_problems(&path, &text));
    }
    Ok(problems)
}

/// Every Rust file that is or is about to be in the repository. The setting lets it answer for a checkout
/// that belongs to another user, as on build machines.
fn files() -> Result<Vec<String>> {
    let args =
        ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.rs"];
    let listed = process::read(process::command("git").args(args))
        .map_err(|error| failure(format!("tidy asks git which files there are: {error}")))?;
    let here = |path: &&str| !path.is_empty() && Path::new(workspace::root()).join(path).exists();
    let mut files: Vec<String> = listed.split('\0').filter(here).map(str::to_owned).collect();
    files.dedup();
    Ok(files)
}

fn file_problems(path: &str, text: &str) -> Problems {
    let mut problems = Problems::new();
    if !text.starts_with("//!") {
        problems.push(format!("{path} must open with a `//!` line that says what it is"));
    }
    let lines = text.lines().count();
    if lines > MOST_LINES {
        problems
            .push(format!("{path} has {lines} lines, more than {MOST_LINES}: it holds more than one idea"));
    }
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        for (text, why) in FORBIDDEN {
            if contains_word(line, text) {
                problems.push(format!("{path}:{number} has `{text}`: {why}"));
            }
        }
        if reads_wall_clock(path, line) {
            problems.push(format!(
                "{path}:{number} reads the wall clock: time is an argument, and only {CLOCK} asks"
            ));
        }
    }
    problems
}

fn reads_wall_clock(path: &str, line: &str) -> bool {
    let exempt =
        path == CLOCK || path.contains("/tests/") || OUTSIDE.iter().any(|folder| path.starts_with(folder));
    !exempt && !line.trim_start().starts_with("//") && line.contains("SystemTime::now")
}

/// Whether `line` has `text` and not only as the tail or the head of a longer word.
fn contains_word(line: &str, text: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(text).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + text.len()..].chars().next();
        let head = text.starts_with(part_of_word) && before.is_some_and(part_of_word);
        let tail = text.ends_with(|c: char| c.is_ascii_uppercase()) && after.is_some_and(part_of_word);
        !head && !tail
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/tollgate-core/src/lib.rs";

    fn problems_in(body: &str) -> Problems {
        file_problems(FILE, &format!("//! A file.\n\n{body}\n"))
    }

    #[test]
    fn a_plain_file_is_tidy() {
        assert!(problems_in("fn do_nothing() {}").is_empty());
        assert!(problems_in("#[expect(dead_code, reason = \"an example\")]\nfn f() {}").is_empty());
        assert!(problems_in("// A MASTODON is no mark, and autodo!() is none.").is_empty());
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        for text in ["", "fn f() {}\n", "// A comment.\n", "\n//! Late.\n"] {
            assert_eq!(file_problems(FILE, text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn a_file_has_an_end() {
        let lines = |count: usize| "//! x\n".repeat(count);
        assert!(file_problems(FILE, &lines(MOST_LINES)).is_empty());
        assert_eq!(file_problems(FILE, &lines(MOST_LINES + 1)).len(), 1);
    }

    #[test]
    fn each_forbidden_text_is_found_with_its_line() {
        for (text, _) in FORBIDDEN {
            let problems = problems_in(&format!("// before {text} after"));
            assert_eq!(problems.len(), 1, "{text}");
            assert!(problems[0].starts_with(&format!("{FILE}:3 has `{text}`")), "{}", problems[0]);
        }
        assert_eq!(problems_in(&format!("{}: later", concat!("// TO", "DO"))).len(), 1);
        assert_eq!(problems_in(concat!("#[ign", "ore = \"slow\"]")).len(), 1);
    }

    #[test]
    fn only_the_clock_reads_the_clock() {
        let text = "//! A file.\nlet now = std::time::SystemTime::now();\n";
        for path in [FILE, "crates/tollgate-guard/src/guard.rs", "crates/tollgate-demo/src/main.rs"] {
            assert_eq!(file_problems(path, text).len(), 1, "{path}");
        }
        for path in
            [CLOCK, "crates/tollgate-core/tests/a.rs", "crates/tollgate-bench/src/main.rs", "xtask/src/ci.rs"]
        {
            assert!(file_problems(path, text).is_empty(), "{path}");
        }
        assert!(
            problems_in("/// let now = SystemTime::now();").is_empty(),
            "an example in the documentation"
        );
    }

    #[test]
    fn the_list_of_files_has_this_one() {
        let files = files().unwrap();
        assert!(files.iter().any(|file| file == "xtask/src/tidy/sources.rs"), "{files:?}");
    }
}
