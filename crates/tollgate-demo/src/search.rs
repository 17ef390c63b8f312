//! Full-text search over the pages: which passages answer a question.

use std::sync::Arc;

use bm25::{Embedder, EmbedderBuilder, Embedding, Language, Scorer};
use serde::Serialize;

use crate::{pages::Page, passages};

/// The most passages in one answer.
const MOST_PASSAGES: usize = 3;

/// About how many words a passage has once the common ones are gone: what the ranking takes for the average length.
const USUAL_WORDS: f32 = 50.0;

/// One passage that answers, and the page it stands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Found {
    /// The passage, Markdown.
    pub(crate) text: String,
    /// The name of its page.
    pub(crate) page: String,
}

/// Turns text into terms: lower-case, stemmed, without the common words of English.
#[derive(Debug)]
pub(crate) struct Reader(Embedder);

impl Reader {
    /// Ready to read.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self(EmbedderBuilder::with_avgdl(USUAL_WORDS).language_mode(Language::English).build())
    }

    /// Reads one page for an index.
    #[must_use]
    pub(crate) fn read(&self, page: Page) -> IndexedPage {
        let indexed = |passage: passages::Passage| {
            // Twice: what a page and a section are about counts for more than a word in passing.
            let about = format!("{} {} ", page.title, passage.heading).repeat(2);
            IndexedPassage { terms: self.0.embed(&(about + &passage.text)), text: passage.text }
        };
        let passages = passages::split(&page.text).into_iter().map(indexed).collect();
        IndexedPage { page, passages }
    }
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

/// A page that has been read.
#[derive(Debug)]
pub(crate) struct IndexedPage {
    /// The page.
    pub(crate) page: Page,
    passages: Vec<IndexedPassage>,
}

#[derive(Debug)]
struct IndexedPassage {
    text: String,
    terms: Embedding,
}

impl IndexedPage {
    /// How many passages it has.
    #[must_use]
    pub(crate) fn passages(&self) -> usize {
        self.passages.len()
    }
}

/// An index over pages. It does not change: another edition of the site has another.
pub(crate) struct Index {
    pages: Vec<Arc<IndexedPage>>,
    /// Knows each passage by the places of its page and of itself.
    scorer: Scorer<(usize, usize)>,
}

impl Index {
    /// The index of these pages.
    #[must_use]
    pub(crate) fn new(pages: Vec<Arc<IndexedPage>>) -> Self {
        let mut scorer = Scorer::new();
        for (at, page) in pages.iter().enumerate() {
            for (within, passage) in page.passages.iter().enumerate() {
                scorer.upsert(&(at, within), passage.terms.clone());
            }
        }
        Self { pages, scorer }
    }

    /// Its pages, sorted by name.
    #[must_use]
    pub(crate) fn pages(&self) -> &[Arc<IndexedPage>] {
        &self.pages
    }

    /// The page of this name.
    #[must_use]
    pub(crate) fn page(&self, name: &str) -> Option<&IndexedPage> {
        self.pages.iter().find(|page| page.page.name == name).map(|page| &**page)
    }

    /// How many passages all pages have.
    #[must_use]
    pub(crate) fn passages(&self) -> usize {
        self.pages.iter().map(|page| page.passages()).sum()
    }

    /// The passages that answer a question, best first, at most [`MOST_PASSAGES`]; none if no page speaks of what it asks.
    #[must_use]
    pub(crate) fn find(&self, reader: &Reader, question: &str) -> Vec<Found> {
        let asked = reader.0.embed(question);
        let mut terms: Vec<u32> = asked.indices().copied().collect();
        terms.sort_unstable();
        terms.dedup();
        let mut matches = self.scorer.matches(&asked);
        // Equal scores come in no order of their own.
        matches.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
        matches
            .into_iter()
            .filter_map(|found| {
                let page = self.pages.get(found.id.0)?;
                let passage = page.passages.get(found.id.1)?;
                passage
                    .speaks_of(&terms)
                    .then(|| Found { text: passage.text.clone(), page: page.page.name.clone() })
            })
            .take(MOST_PASSAGES)
            .collect()
    }
}

impl IndexedPassage {
    /// Whether it has at least a third of the terms: one word in common is no answer to a long question.
    fn speaks_of(&self, terms: &[u32]) -> bool {
        let common = terms.iter().filter(|term| self.terms.indices().any(|own| own == *term)).count();
        common * 3 >= terms.len()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("pages", &self.pages.len()).field("passages", &self.passages()).finish()
    }
}
