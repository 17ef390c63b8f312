//! Where the site's pages come from: the program itself, or a folder that can change while it runs.

use std::{error::Error, fmt, fs, io, path::PathBuf};

/// One page as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name, in answers and in requests.
    pub name: String,
    /// Its first heading, or its name.
    pub title: String,
    /// Its text, Markdown.
    pub text: String,
}

/// Where pages are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the site reads its pages from one of these two")]
pub enum Pages {
    /// The pages that are part of the program: this site's, the workspace's documents and the crates' front pages.
    Embedded,
    /// The files `<name>.md` of a folder, read anew each time.
    Folder(PathBuf),
}

/// The most pages of a folder that are read.
const MOST_PAGES: usize = 1_000;

/// The most bytes of one page.
const LONGEST_PAGE: u64 = 1024 * 1024;

macro_rules! embedded {
    ($($name:literal $path:literal)*) => {
        &[$(($name, include_str!($path))),*]
    };
}

/// The pages written in Markdown.
const DOCUMENTS: &[(&str, &str)] = embedded! {
    "overview" "../site/overview.md"
    "fixed-windows" "../site/fixed-windows.md"
    "sliding-windows" "../site/sliding-windows.md"
    "token-buckets" "../site/token-buckets.md"
    "several-limits" "../site/several-limits.md"
    "outages" "../site/outages.md"
    "visitors" "../site/visitors.md"
    "headers" "../site/headers.md"
    "memory-store" "../site/memory-store.md"
    "keys" "../site/keys.md"
    "clocks" "../site/clocks.md"
    "budgets" "../site/budgets.md"
    "webhooks" "../site/webhooks.md"
    "this-site" "../site/this-site.md"
    "readme" "../../../README.md"
    "architecture" "../../../docs/architecture.md"
    "coming-from" "../../../docs/coming-from.md"
};

/// The crates' sources whose opening comments are pages.
const FRONT_PAGES: &[(&str, &str)] = embedded! {
    "tollgate-core" "../../tollgate-core/src/lib.rs"
    "tollgate-store" "../../tollgate-store/src/lib.rs"
    "tollgate-memory" "../../tollgate-memory/src/lib.rs"
    "tollgate-guard" "../../tollgate-guard/src/lib.rs"
    "tollgate-visitor" "../../tollgate-visitor/src/lib.rs"
    "tollgate-http" "../../tollgate-http/src/lib.rs"
    "tollgate-webhook" "../../tollgate-webhook/src/lib.rs"
    "tollgate-suite" "../../tollgate-suite/src/lib.rs"
    "tollgate" "../../tollgate/src/lib.rs"
};

impl Pages {
    /// The names of all pages, sorted.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, PagesError> {
        let mut names: Vec<String> = match self {
            Self::Embedded => {
                DOCUMENTS.iter().chain(FRONT_PAGES).map(|(name, _)| (*name).to_owned()).collect()
            }
            Self::Folder(folder) => {
                let failed = |source| PagesError::Folder { folder: folder.clone(), source };
                let mut names = Vec::new();
                for entry in fs::read_dir(folder).map_err(failed)? {
                    let name = entry.map_err(failed)?.file_name();
                    let page = name.to_str().and_then(|name| name.strip_suffix(".md"));
                    names.extend(page.filter(|page| is_name(page)).map(str::to_owned));
                }
                names
            }
        };
        names.sort_unstable();
        names.truncate(MOST_PAGES);
        Ok(names)
    }

    /// One page; `None` if there is none of this name.
    ///
    /// # Errors
    /// If the folder's file is there and cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Page>, PagesError> {
        let text = match self {
            Self::Embedded => embedded_text(name),
            Self::Folder(_) if !is_name(name) => None,
            Self::Folder(folder) => read_file(&folder.join(format!("{name}.md")))
                .map_err(|source| PagesError::Page { name: name.to_owned(), source })?,
        };
        Ok(text.map(|text| Page { name: name.to_owned(), title: title(&text, name), text }))
    }

    /// All pages, sorted by name. One that vanishes meanwhile is left out.
    ///
    /// # Errors
    /// If the folder, or a file of it, cannot be read.
    pub fn read_all(&self) -> Result<Vec<Page>, PagesError> {
        self.names()?.iter().filter_map(|name| self.read(name).transpose()).collect()
    }
}

fn embedded_text(name: &str) -> Option<String> {
    let find = |pages: &[(&str, &'static str)]| {
        pages.iter().find(|(other, _)| *other == name).map(|(_, text)| *text)
    };
    find(DOCUMENTS).map(str::to_owned).or_else(|| find(FRONT_PAGES).map(|source| front_page(name, source)))
}

/// The comment a crate's source opens with, as Markdown without the lines that its examples hide.
fn front_page(name: &str, source: &str) -> String {
    let mut page = format!("# {name}\n");
    let mut in_example = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        in_example ^= line.starts_with("```");
        if !(in_example && (line == "#" || line.starts_with("# "))) {
            page.push('\n');
            page.push_str(line);
        }
    }
    page
}

/// A file's text; `None` if there is no such file.
fn read_file(path: &std::path::Path) -> io::Result<Option<String>> {
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.is_file() || file.len() > LONGEST_PAGE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a page is a file of at most 1 MiB"));
    }
    fs::read_to_string(path).map(Some)
}

fn title(text: &str, name: &str) -> String {
    let heading = text.lines().find_map(|line| line.strip_prefix("# "));
    heading.map_or(name, str::trim).to_owned()
}

/// As in requests, so that every page can be asked for, and none lies outside the folder.
fn is_name(text: &str) -> bool {
    crate::input::Name::try_from(text.to_owned()).is_ok_and(|name| name.as_str() == text)
}

/// Pages that could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum PagesError {
    /// The folder.
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A page of it.
    Page {
        /// Which.
        name: String,
        /// Why not.
        source: io::Error,
    },
}

impl fmt::Display for PagesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder { folder, .. } => {
                write!(f, "the folder of pages {} cannot be read", folder.display())
            }
            Self::Page { name, .. } => write!(f, "the page {name:?} cannot be read"),
        }
    }
}

impl Error for PagesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Folder { source, .. } | Self::Page { source, .. } => Some(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_page_can_be_read_and_has_a_title() {
        let pages = Pages::Embedded.read_all().unwrap();
        assert_eq!(pages.len(), DOCUMENTS.len() + FRONT_PAGES.len());
        for page in &pages {
            assert!(is_name(&page.name), "{}", page.name);
            assert!(!page.title.is_empty() && page.text.len() > 40, "{}", page.name);
        }
        assert_eq!(Pages::Embedded.read("no-such-page").unwrap(), None);
    }

    #[test]
    fn a_front_page_is_the_opening_comment_without_hidden_lines() {
        let source = "//! Counts.\n//!\n//! # Features\n//!\n//! ```\n//! # use a::B;\n//! # Ok::<(), E>(())\n//! b();\n//! #\n//! ```\n\nmod a;\n//! no";
        assert_eq!(front_page("x", source), "# x\n\nCounts.\n\n# Features\n\n```\nb();\n```");
    }

    #[test]
    fn a_name_never_leaves_the_folder() {
        let pages = Pages::Folder(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("site"));
        assert!(pages.read("overview").unwrap().is_some());
        for name in ["../site/overview", "./overview", "Overview", "", "overview.md", "nowhere"] {
            assert_eq!(pages.read(name).unwrap(), None, "{name:?}");
        }
        assert!(Pages::Folder("/no/such/folder".into()).read_all().is_err());
    }
}
