//! Cuts a page into passages: what a search finds and an answer shows.

/// A passage grows to about this many bytes before the next paragraph, or item of a list, begins another.
const FULL: usize = 500;

/// One passage of a page, under the heading it stands below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The nearest heading above, empty before the first.
    pub(crate) heading: String,
    /// Its text, Markdown.
    pub(crate) text: String,
}

/// Cuts Markdown at headings and, where a section is long, between paragraphs and items of a list. A fenced block of code is never cut.
pub(crate) fn split(markdown: &str) -> Vec<Passage> {
    let mut cut = Cut::default();
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) | (None, None) => {}
        }
        let is_code = fence.is_some() || mark.is_some();
        match heading(line).filter(|_| !is_code) {
            Some(heading) => cut.section(heading),
            None if line.trim().is_empty() && !is_code => cut.paragraph(),
            None => {
                if !is_code && begins_item(line) {
                    cut.item();
                }
                cut.line(line);
            }
        }
    }
    cut.passage();
    cut.passages
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let depth = line.len() - text.len();
    ((1..=6).contains(&depth) && text.starts_with(' ')).then(|| text.trim())
}

/// Whether a line begins an item of an outermost list.
fn begins_item(line: &str) -> bool {
    let after_number = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    ["- ", "* "].iter().any(|mark| line.starts_with(mark))
        || (after_number.len() < line.len() && after_number.starts_with(". "))
}

#[derive(Default)]
struct Cut {
    passages: Vec<Passage>,
    heading: String,
    text: String,
}

impl Cut {
    fn section(&mut self, heading: &str) {
        self.passage();
        heading.clone_into(&mut self.heading);
    }

    fn paragraph(&mut self) {
        if self.text.len() >= FULL {
            self.passage();
        } else if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn item(&mut self) {
        if self.text.len() >= FULL {
            self.passage();
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn passage(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if !text.is_empty() {
            self.passages.push(Passage { heading: self.heading.clone(), text: text.to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(markdown: &str) -> Vec<(String, String)> {
        split(markdown).into_iter().map(|passage| (passage.heading, passage.text)).collect()
    }

    fn pair(heading: &str, text: &str) -> (String, String) {
        (heading.to_owned(), text.to_owned())
    }

    #[test]
    fn sections_are_passages_and_code_is_never_cut() {
        let page =
            "# Keys\n\nOne.\n\nTwo.\n## Code\n```\n# no heading\n\nstill code\n```\n\n### Empty\n\n#hash\n";
        assert_eq!(
            texts(page),
            [
                pair("Keys", "One.\n\nTwo."),
                pair("Code", "```\n# no heading\n\nstill code\n```"),
                pair("Empty", "#hash"),
            ]
        );
        assert!(split("").is_empty() && split("# Only a heading\n").is_empty());
    }

    #[test]
    fn a_long_section_is_cut_between_paragraphs_and_items() {
        let long = "word ".repeat(120).trim().to_owned();
        assert_eq!(
            texts(&format!("1. {long}\n   - inner\n2. two\n10. ten\n1.5 is a number")),
            [pair("", &format!("1. {long}\n   - inner")), pair("", "2. two\n10. ten\n1.5 is a number")]
        );
        assert_eq!(texts(&format!("{long}\n\nshort\n\nend")), [pair("", &long), pair("", "short\n\nend")]);
    }
}
