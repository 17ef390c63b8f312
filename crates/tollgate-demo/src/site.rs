//! The site's index: the edition that answers, and the one that waits to be published.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use serde::Serialize;

use crate::{
    pages::{Pages, PagesError},
    passages,
    search::{Found, Index, Reader},
};

/// The pages of the site and the index over them.
///
/// A rebuilt index is staged first, and answers only once it is published. All methods but [`Site::find`] read files or
/// wait for one another: call them where blocking is allowed.
#[derive(Debug)]
pub(crate) struct Site {
    pages: Pages,
    reader: Reader,
    live: RwLock<Arc<Edition>>,
    /// Held while an edition is built, so that none is lost to another that was begun earlier.
    staged: Mutex<Staged>,
}

#[derive(Debug)]
struct Staged {
    edition: Option<Arc<Edition>>,
    newest: u64,
}

/// One state of the index.
#[derive(Debug)]
pub(crate) struct Edition {
    number: u64,
    index: Index,
}

/// An edition in figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// Its number: the first is 1, and a rebuilt one is the next.
    pub(crate) edition: u64,
    /// How many pages it has.
    pub(crate) pages: usize,
    /// How many passages they have.
    pub(crate) passages: usize,
}

/// One page of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Listing {
    /// Its name.
    pub(crate) page: String,
    /// Its title.
    pub(crate) title: String,
    /// How long it is.
    pub(crate) bytes: usize,
    /// Whether the live index has it as it is.
    pub(crate) live: bool,
}

impl Site {
    /// Reads all pages and answers from them.
    ///
    /// # Errors
    /// If the pages cannot be read.
    pub(crate) fn open(pages: Pages) -> Result<Self, PagesError> {
        let reader = Reader::new();
        let first = Arc::new(Edition::read(1, &pages, &reader)?);
        let staged = Mutex::new(Staged { edition: None, newest: 1 });
        Ok(Self { pages, reader, live: RwLock::new(first), staged })
    }

    /// The passages of the live edition that answer a question, best first.
    #[must_use]
    pub(crate) fn find(&self, question: &str) -> Vec<Found> {
        let live = self.live();
        live.index.find(&self.reader, question)
    }

    /// The edition that answers.
    #[must_use]
    pub(crate) fn live(&self) -> Arc<Edition> {
        Arc::clone(&self.live.read())
    }

    /// Reads all pages again and stages the index of them.
    ///
    /// # Errors
    /// If they cannot be read; what was staged stays so.
    pub(crate) fn rebuild(&self) -> Result<Summary, PagesError> {
        let mut staged = self.staged.lock();
        let edition = Edition::read(staged.newest + 1, &self.pages, &self.reader)?;
        Ok(staged.put(edition))
    }

    /// Reads one page again and stages the index with it: the staged one, or else the live one. `None` if there is no such page.
    ///
    /// # Errors
    /// If the page cannot be read; what was staged stays so.
    pub(crate) fn reindex(&self, name: &str) -> Result<Option<Summary>, PagesError> {
        let mut staged = self.staged.lock();
        let Some(page) = self.pages.read(name)? else { return Ok(None) };
        let page = Arc::new(self.reader.read(page));
        let base = staged.edition.clone().unwrap_or_else(|| self.live());
        let mut pages: Vec<_> = base.index.pages().to_vec();
        match pages.binary_search_by(|other| other.page.name.as_str().cmp(name)) {
            Ok(at) => pages[at] = page,
            Err(at) => pages.insert(at, page),
        }
        let edition = Edition { number: staged.newest + 1, index: Index::new(pages) };
        Ok(Some(staged.put(edition)))
    }

    /// Makes the staged edition live. Answers what is live then, and whether that is another than before.
    pub(crate) fn publish(&self) -> (Summary, bool) {
        let mut staged = self.staged.lock();
        match staged.edition.take() {
            Some(edition) => {
                let summary = edition.summary();
                *self.live.write() = edition;
                (summary, true)
            }
            None => (self.live().summary(), false),
        }
    }

    /// All pages as they are now.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn list(&self) -> Result<Vec<Listing>, PagesError> {
        let live = self.live();
        let list = self.pages.read_all()?.into_iter().map(|page| Listing {
            bytes: page.text.len(),
            live: live.index.page(&page.name).is_some_and(|indexed| indexed.page == page),
            page: page.name,
            title: page.title,
        });
        Ok(list.collect())
    }

    /// How a page begins, as it is now; `None` if there is no such page.
    ///
    /// # Errors
    /// If the page cannot be read.
    pub(crate) fn opening(&self, name: &str) -> Result<Option<Found>, PagesError> {
        let Some(page) = self.pages.read(name)? else { return Ok(None) };
        let first = passages::split(&page.text).into_iter().next();
        Ok(first.map(|passage| Found { text: passage.text, page: page.name }))
    }

    /// Whether there is a page of this name.
    ///
    /// # Errors
    /// If the pages cannot be read.
    pub(crate) fn has(&self, name: &str) -> Result<bool, PagesError> {
        Ok(self.pages.read(name)?.is_some())
    }
}

impl Staged {
    fn put(&mut self, edition: Edition) -> Summary {
        let summary = edition.summary();
        self.newest = edition.number;
        self.edition = Some(Arc::new(edition));
        summary
    }
}

impl Edition {
    fn read(number: u64, pages: &Pages, reader: &Reader) -> Result<Self, PagesError> {
        let pages = pages.read_all()?.into_iter().map(|page| Arc::new(reader.read(page))).collect();
        Ok(Self { number, index: Index::new(pages) })
    }

    /// It in figures.
    #[must_use]
    pub(crate) fn summary(&self) -> Summary {
        Summary { edition: self.number, pages: self.index.pages().len(), passages: self.index.passages() }
    }
}
