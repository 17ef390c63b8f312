//! Links to items, which only rustdoc can follow, become the plain names they show.

use std::collections::BTreeMap;

/// The page's `[label]: target` lines.
pub(super) struct Definitions<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Definitions<'a> {
    pub(super) fn new(lines: &[&'a str]) -> Self {
        Self(lines.iter().filter_map(|line| definition(line)).collect())
    }

    /// Whether the line only defines a link that leads nowhere outside rustdoc.
    pub(super) fn is_internal(&self, line: &str) -> bool {
        definition(line).is_some_and(|(_, target)| !is_address(target))
    }

    /// The paragraph with every link to an item replaced by its text; links to pages stay.
    pub(super) fn resolve(&self, paragraph: &str) -> String {
        if paragraph.lines().all(|line| definition(line).is_some()) {
            return paragraph.to_owned();
        }
        let mut resolved = String::with_capacity(paragraph.len());
        let mut rest = paragraph;
        while let Some(start) = rest.find(['[', '`']) {
            resolved.push_str(&rest[..start]);
            rest = &rest[start..];
            let (text, after) = code(rest).or_else(|| self.link(rest)).unwrap_or_else(|| {
                let (text, after) = rest.split_at(1);
                (text.to_owned(), after)
            });
            resolved.push_str(&text);
            rest = after;
        }
        resolved + rest
    }

    /// What stands for the link at the start of `rest`, and what follows it.
    fn link<'r>(&self, rest: &'r str) -> Option<(String, &'r str)> {
        let (text, after) = bracketed(rest, '[', ']')?;
        if let Some((target, end)) = bracketed(after, '(', ')') {
            return (!is_address(target)).then(|| (self.resolve(text), end));
        }
        if let Some((label, end)) = bracketed(after, '[', ']') {
            let label = if label.is_empty() { text } else { label };
            return (!self.leads_to_page(label)).then(|| (self.resolve(text), end));
        }
        let shortcut = self.0.contains_key(text) || is_code(text);
        (shortcut && !self.leads_to_page(text)).then(|| (plain_item(text), after))
    }

    fn leads_to_page(&self, label: &str) -> bool {
        self.0.get(label).is_some_and(|target| is_address(target))
    }
}

fn definition(line: &str) -> Option<(&str, &str)> {
    let (label, after) = bracketed(line.trim_start(), '[', ']')?;
    Some((label, after.strip_prefix(':')?.trim()))
}

/// A code span passes as it is, brackets and all.
fn code(rest: &str) -> Option<(String, &str)> {
    let marks = rest.len() - rest.trim_start_matches('`').len();
    let (open, inner) = rest.split_at(marks);
    let end = if marks == 0 { None } else { inner.find(open) }?;
    let (span, after) = rest.split_at(marks + end + marks);
    Some((span.to_owned(), after))
}

/// What is between the bracket that `rest` starts with and the one that closes it.
fn bracketed(rest: &str, open: char, close: char) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (index, c) in rest.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.checked_sub(1)?;
        }
        if depth == 0 {
            return (index > 0).then(|| (&rest[1..index], &rest[index + 1..]));
        }
    }
    None
}

fn is_address(target: &str) -> bool {
    let target = target.trim_start_matches('<');
    target.contains("://") || target.starts_with("mailto:")
}

fn is_code(text: &str) -> bool {
    text.len() > 2 && text.starts_with('`') && text.ends_with('`')
}

/// Without the kind that tells rustdoc which of several items is meant: `struct@Limit`.
fn plain_item(text: &str) -> String {
    let Some((kind, name)) = text.split_once('@') else {
        return text.to_owned();
    };
    let mark = if kind.starts_with('`') { "`" } else { "" };
    if kind.trim_start_matches('`').bytes().all(|byte| byte.is_ascii_lowercase()) {
        format!("{mark}{name}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_items_become_names_and_links_to_pages_stay() {
        let page =
            ["[`Store`]: crate::Store", "[the draft]: https://example.com/draft", "[contract]: trait@Store"];
        let definitions = Definitions::new(&page);
        for (line, wanted) in [
            ("a [`Limit`] and [`Limit::step`].", "a `Limit` and `Limit::step`."),
            ("[`Limit`](crate::Limit), [a limit](Limit)", "`Limit`, a limit"),
            ("[`Store`], [a store][`Store`], [the contract][contract]", "`Store`, a store, the contract"),
            ("[contract] and [contract][]", "contract and contract"),
            ("[`struct@Limit`] or [`fn@limit`]", "`Limit` or `limit`"),
            ("[the draft] and [here](https://example.com)", "[the draft] and [here](https://example.com)"),
            ("[text][the draft]", "[text][the draft]"),
            ("between [0, 1] and `[u8]`, `a[`i`]`", "between [0, 1] and `[u8]`, `a[`i`]`"),
            ("[an open bracket and ` a tick", "[an open bracket and ` a tick"),
            ("[`Vec<[u8; 2]>`](Vec)", "`Vec<[u8; 2]>`"),
        ] {
            assert_eq!(definitions.resolve(line), wanted);
        }
    }

    #[test]
    fn only_definitions_of_items_go() {
        let definitions = Definitions::new(&[]);
        assert!(definitions.is_internal("[`Store`]: crate::Store"));
        assert!(!definitions.is_internal("[the draft]: https://example.com/draft"));
        assert!(!definitions.is_internal("[`Store`] is one: crate::Store"));
    }
}
