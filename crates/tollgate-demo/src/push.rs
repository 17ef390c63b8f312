//! A push, as GitHub tells of it: which pages it names.

use serde::Deserialize;

use crate::Name;

/// What is read of the payload.
#[derive(Debug, Deserialize)]
pub(crate) struct Push {
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default)]
    deleted: bool,
    repository: Repository,
    #[serde(default)]
    commits: Vec<Commit>,
}

#[derive(Debug, Deserialize)]
struct Repository {
    default_branch: String,
    owner: Owner,
}

#[derive(Debug, Deserialize)]
struct Owner {
    login: Name,
}

#[derive(Debug, Deserialize)]
struct Commit {
    #[serde(default)]
    added: Vec<String>,
    #[serde(default)]
    modified: Vec<String>,
}

/// The most pages of one push that are updated.
const MOST_PAGES: usize = 20;

impl Push {
    /// Whether it is to the branch that the pages are written on.
    pub(crate) fn is_to_default_branch(&self) -> bool {
        let branch = self.reference.strip_prefix("refs/heads/");
        !self.deleted && branch == Some(self.repository.default_branch.as_str())
    }

    /// Whose repository it is to.
    pub(crate) fn into_org(self) -> Name {
        self.repository.owner.login
    }

    /// The names of the pages that it adds or changes, sorted: the files `<name>.md`, in whatever folder.
    pub(crate) fn pages(&self) -> Vec<Name> {
        let paths = self.commits.iter().flat_map(|commit| commit.added.iter().chain(&commit.modified));
        let mut pages: Vec<Name> = paths.filter_map(|path| page(path)).collect();
        pages.sort_unstable();
        pages.dedup();
        pages.truncate(MOST_PAGES);
        pages
    }
}

fn page(path: &str) -> Option<Name> {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    Name::try_from(file.strip_suffix(".md")?.to_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn push(reference: &str, commits: &Value) -> Push {
        let repository = json!({ "default_branch": "main", "owner": { "login": "Acme" }, "private": false });
        let payload = json!({ "ref": reference, "repository": repository, "commits": commits });
        serde_json::from_value(payload).unwrap()
    }

    #[test]
    fn pages_are_named_by_changed_paths() {
        let commits = json!([
            { "added": ["docs/keys.md", "src/lib.rs"], "modified": ["overview.md"], "removed": ["gone.md"] },
            { "modified": ["docs/README.md", "other/keys.md", "docs/.md", "docs/a b.md"] },
        ]);
        let changes = push("refs/heads/main", &commits);
        let pages: Vec<_> = changes.pages().iter().map(|page| page.as_str().to_owned()).collect();
        assert_eq!(pages, ["keys", "overview", "readme"]);
        assert_eq!(changes.into_org().as_str(), "acme");
        let many: Vec<_> = (0..30).map(|n| format!("page-{n}.md")).collect();
        assert_eq!(push("refs/heads/main", &json!([{ "added": many }])).pages().len(), MOST_PAGES);
    }

    #[test]
    fn only_the_default_branch_counts() {
        for (reference, expected) in [
            ("refs/heads/main", true),
            ("refs/heads/maintenance", false),
            ("refs/heads/x/main", false),
            ("refs/tags/main", false),
            ("main", false),
        ] {
            assert_eq!(push(reference, &json!([])).is_to_default_branch(), expected, "{reference}");
        }
    }
}
