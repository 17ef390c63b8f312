//! The visitor: the text that stands for one client in a store's keys.

use std::borrow::Borrow;
use std::fmt;

use arrayvec::ArrayString;

/// Eight groups of four digits, seven colons and `/128`: the longest text a visitor can have.
const MAX_TEXT: usize = 43;

/// The text while it is written. Its `push` panics on a longer text, of which the table below has none.
pub(crate) type KeyText = ArrayString<MAX_TEXT>;

/// One visitor, as the text that stands for it in keys.
///
/// | the client | the text |
/// |---|---|
/// | IPv4, also when written as IPv4-mapped IPv6 | `203.0.113.7` |
/// | IPv6, prefix 64 | `2001:db8:0:0::/64` |
/// | IPv6, prefix 128 | `2001:db8:0:0:0:0:0:1/128` |
/// | any, with a keyed hash | `h1_` and 22 characters of `A-Z a-z 0-9 - _` |
/// | a developer, header missing and `OnMissing::Local` | `local` |
///
/// No two rows share a text, and no client can choose one. The text lies inline (at most 43 bytes): reading a request
/// allocates nothing for it, and a clone is a copy of 48 bytes that touches no shared counter.
///
/// `Debug` hides the text and there is no `Display`: an address is personal data and should not reach a log by accident.
/// [`key`](Self::key) and `AsRef<str>` give it on purpose. A keyed hash is still a pseudonym, not anonymous.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visitor {
    key: KeyText,
}

impl Visitor {
    /// The text for a store's key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether this is the one visitor of development mode: the header was missing, and the source allows that.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.key() == LOCAL
    }

    pub(crate) fn local() -> Self {
        let mut key = KeyText::new();
        key.push_str(LOCAL);
        Self { key }
    }

    pub(crate) fn new(key: KeyText) -> Self {
        Self { key }
    }
}

const LOCAL: &str = "local";

impl AsRef<str> for Visitor {
    fn as_ref(&self) -> &str {
        self.key()
    }
}

impl Borrow<str> for Visitor {
    fn borrow(&self) -> &str {
        self.key()
    }
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visitor(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{KeyText, Visitor};

    fn visitor(text: &str) -> Visitor {
        Visitor::new(KeyText::from(text).unwrap())
    }

    #[test]
    fn the_longest_text_fits_exactly() {
        let longest = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128";
        assert_eq!((visitor(longest).key(), KeyText::new().capacity()), (longest, longest.len()));
    }

    #[test]
    fn debug_hides_the_text_and_as_ref_gives_it() {
        let visitor = visitor("203.0.113.7");
        assert_eq!(format!("{visitor:?} {visitor:#?}"), "Visitor(..) Visitor(..)");
        assert_eq!((visitor.as_ref(), visitor.is_local()), ("203.0.113.7", false));
        assert_eq!((Visitor::local().key(), Visitor::local().is_local()), ("local", true));
    }

    #[test]
    fn a_map_of_visitors_is_searched_by_text() {
        let counts = HashMap::from([(visitor("203.0.113.7"), 1)]);
        assert_eq!((counts.get("203.0.113.7"), counts.get("203.0.113.8")), (Some(&1), None));
    }

    #[test]
    fn a_clone_stays_small() {
        assert!(size_of::<Visitor>() <= 48);
    }
}
