//! From `//!` lines to Markdown that reads well where rustdoc is not: on a registry or a forge.

use super::links;

/// The README for the crate whose `lib.rs` is `source`; `None` when it has no front page.
pub(super) fn render(name: &str, license: &str, source: &str) -> Option<String> {
    let front = front_page(source)?;
    let titled = front.first().is_some_and(|line| line.starts_with("# "));
    let mut page = Vec::new();
    if !titled {
        page.push(format!("# {name}"));
        page.push(String::new());
    }
    page.extend(body(&front, !titled));
    while page.last().is_some_and(String::is_empty) {
        page.pop();
    }
    page.push(String::new());
    page.push(format!("Licensed under {}, at your option.", license.replace(" OR ", " or ")));
    Some(page.join("\n") + "\n")
}

/// The lines of the page without their marks, without blank ones before the first.
fn front_page(source: &str) -> Option<Vec<&str>> {
    let marked = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = marked
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .skip_while(|line| line.is_empty())
        .collect();
    (!lines.is_empty()).then_some(lines)
}

/// Sections move down one level under an added title, since rustdoc's own start at the first.
fn body(front: &[&str], demote: bool) -> Vec<String> {
    let definitions = links::Definitions::new(&outside_fences(front));
    let mut page = Vec::new();
    let mut prose = Vec::new();
    let mut fence: Option<Fence> = None;
    for &line in front {
        match &mut fence {
            Some(open) if open.closed_by(line) => {
                page.push(line.to_owned());
                fence = None;
            }
            Some(open) => page.extend(open.line(line)),
            None => {
                fence = Fence::open(line);
                if let Some(opened) = &fence {
                    page.extend(resolved(&mut prose, &definitions));
                    page.push(opened.first_line());
                } else if line.is_empty() {
                    page.extend(resolved(&mut prose, &definitions));
                    page.push(String::new());
                } else if !definitions.is_internal(line) {
                    let level = if demote && line.starts_with('#') { "#" } else { "" };
                    prose.push(format!("{level}{line}"));
                }
            }
        }
    }
    page.extend(resolved(&mut prose, &definitions));
    page
}

/// A link may begin on one line and end on the next, so a paragraph is resolved as a whole.
fn resolved(prose: &mut Vec<String>, definitions: &links::Definitions<'_>) -> Vec<String> {
    let paragraph = definitions.resolve(&prose.join("\n"));
    prose.clear();
    paragraph.lines().map(str::to_owned).collect()
}

fn outside_fences<'a>(front: &[&'a str]) -> Vec<&'a str> {
    let mut fence: Option<Fence> = None;
    let mut outside = Vec::new();
    for &line in front {
        match &fence {
            Some(open) if open.closed_by(line) => fence = None,
            Some(_) => {}
            None => {
                fence = Fence::open(line);
                if fence.is_none() {
                    outside.push(line);
                }
            }
        }
    }
    outside
}

struct Fence {
    marks: String,
    info: String,
    rust: bool,
    /// Nothing of the code has been shown yet: blank lines after hidden ones are dropped.
    empty: bool,
}

impl Fence {
    fn open(line: &str) -> Option<Self> {
        let text = line.trim_start();
        let marks: String = text.chars().take_while(|&c| c == '`' || c == '~').collect();
        let info = text[marks.len()..].trim();
        (marks.len() >= 3 && !info.contains('`')).then(|| Self {
            marks: line[..line.len() - text.len()].to_owned() + &marks,
            info: info.to_owned(),
            rust: is_rust(info),
            empty: true,
        })
    }

    /// A forge colours `rust`, and knows nothing of `no_run`.
    fn first_line(&self) -> String {
        format!("{}{}", self.marks, if self.rust { "rust" } else { &self.info })
    }

    fn closed_by(&self, line: &str) -> bool {
        let (line, marks) = (line.trim(), self.marks.trim());
        line.starts_with(marks) && line.bytes().all(|byte| marks.as_bytes().contains(&byte))
    }

    /// The line as rustdoc shows it: `# ` hides one, `##` stands for `#`.
    fn line(&mut self, line: &str) -> Option<String> {
        if !self.rust {
            return Some(line.to_owned());
        }
        let text = line.trim_start();
        let hidden = text == "#" || text.starts_with("# ") || (self.empty && text.is_empty());
        if hidden {
            return None;
        }
        self.empty = false;
        let indent = &line[..line.len() - text.len()];
        Some(text.strip_prefix("##").map_or_else(|| line.to_owned(), |rest| format!("{indent}#{rest}")))
    }
}

/// As rustdoc decides it: a block without a language, or with only words that rustdoc knows.
fn is_rust(info: &str) -> bool {
    let known = |word: &str| {
        matches!(word, "rust" | "no_run" | "ignore" | "should_panic" | "compile_fail" | "standalone_crate")
            || word.starts_with("edition20")
            || word.starts_with("ignore-")
            || (word.len() == 5
                && word.starts_with('E')
                && word[1..].bytes().all(|byte| byte.is_ascii_digit()))
    };
    info.split([',', ' ']).filter(|word| !word.is_empty()).all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(source: &str) -> String {
        render("tollgate-example", "MIT OR Apache-2.0", source).unwrap()
    }

    #[test]
    fn a_whole_page() {
        let source = "\
//! Counts requests with [`Limit`], by [one
//! of its steps](crate::Limit::step).
//!
//! # Example
//!
//! ```no_run
//! # use tollgate_example::Limit;
//! # fn main() {
//!
//! #[derive(Debug)]
//! struct Mine;
//! ## not hidden
//! # }
//! ```
//!
//! ```text
//! # a heading in text
//! ```
//!
//! [`Limit`]: crate::Limit
#![no_std]
//! Not part of it.
";
        let wanted = "\
# tollgate-example

Counts requests with `Limit`, by one
of its steps.

## Example

```rust
#[derive(Debug)]
struct Mine;
# not hidden
```

```text
# a heading in text
```

Licensed under MIT or Apache-2.0, at your option.
";
        assert_eq!(page(source), wanted);
    }

    #[test]
    fn a_title_of_its_own_is_kept_and_nothing_moves() {
        let page = page("//! # The gate\n//!\n//! ## Limits\n");
        assert!(page.starts_with("# The gate\n\n## Limits\n\nLicensed"), "{page}");
    }

    #[test]
    fn a_source_without_a_front_page_has_no_readme() {
        for source in ["", "#![no_std]\n", "//!\nfn f() {}\n", "// A comment.\n"] {
            assert!(render("a", "MIT", source).is_none(), "{source:?}");
        }
    }

    #[test]
    fn rust_is_told_as_rustdoc_tells_it() {
        for info in ["", "rust", "no_run", "rust,should_panic", "compile_fail,E0277", "ignore"] {
            assert!(is_rust(info), "{info}");
        }
        for info in ["text", "toml", "sh", "json", "http"] {
            assert!(!is_rust(info), "{info}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_its_own_marks_only() {
        let page = page("//! ~~~~text\n//! ```\n//! [`A`]\n//! ~~~~\n//! [`B`]\n");
        assert!(page.contains("```\n[`A`]\n~~~~\n`B`\n"), "{page}");
    }
}
