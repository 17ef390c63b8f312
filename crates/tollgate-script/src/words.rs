//! A list of texts in one piece of memory.

use std::{
    fmt::{self, Write},
    ops::Index,
};

/// A list of texts, as a command has them.
///
/// They lie one behind the other: a call has up to sixty, and each of its own memory would cost more than writing them does.
///
/// ```
/// let words: tollgate_script::Words = ["limit:ask:1", "limit:ask:2"].into_iter().collect();
/// assert_eq!((words.len(), &words[1]), (2, "limit:ask:2"));
/// assert_eq!(words.iter().map(str::len).sum::<usize>(), words.text_len());
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Words {
    text: String,
    /// Where each ends, which is where the next one begins.
    ends: Vec<usize>,
}

impl Words {
    pub(crate) fn with_capacity(words: usize, bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ends: Vec::with_capacity(words) }
    }

    /// How many they are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many bytes they have together.
    #[must_use]
    pub const fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Each in turn.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut start, end)..end])
    }

    /// The last one.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.len().checked_sub(1).map(|last| &self[last])
    }

    /// Adds all of another list.
    pub(crate) fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }

    pub(crate) fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
    }

    pub(crate) fn push_number(&mut self, number: impl itoa::Integer) {
        self.push(itoa::Buffer::new().format(number));
    }

    pub(crate) fn push_formatted(&mut self, word: fmt::Arguments<'_>) {
        // Text takes all that is written to it.
        let _ = self.text.write_fmt(word);
        self.ends.push(self.text.len());
    }

    /// Adds one word for each number: the stem, which is written once, a colon and the number.
    pub(crate) fn push_numbered(&mut self, stem: fmt::Arguments<'_>, numbers: impl Iterator<Item = i64>) {
        let (mut digits, mut stem_at) = (itoa::Buffer::new(), None);
        for number in numbers {
            let start = self.text.len();
            match stem_at {
                Some((from, to)) => self.text.extend_from_within(from..to),
                None => {
                    let _ = self.text.write_fmt(stem);
                    self.text.push(':');
                    stem_at = Some((start, self.text.len()));
                }
            }
            self.push(digits.format(number));
        }
    }
}

impl Index<usize> for Words {
    type Output = str;

    /// # Panics
    /// If there are not so many.
    fn index(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[at]]
    }
}

impl<'a> FromIterator<&'a str> for Words {
    fn from_iter<I: IntoIterator<Item = &'a str>>(words: I) -> Self {
        let mut list = Self::default();
        words.into_iter().for_each(|word| list.push(word));
        list
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
