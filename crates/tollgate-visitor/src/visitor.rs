//! The visitor: the text that stands for one client in a store's keys.

use std::borrow::Borrow;
use std::fmt;

use arrayvec::ArrayString;

/// Eight groups of four digits, seven colons and `/128`: the longest text a visitor can have.
pub(crate) const MAX_TEXT: usize = 43;

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
    key: ArrayString<MAX_TEXT>,
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
        Self::from_text(format_args!("{LOCAL}"))
    }

    /// Writes the text in place.
    pub(crate) fn from_text(text: fmt::Arguments<'_>) -> Self {
        let mut key = ArrayString::new();
        // Each caller writes one of the shapes in the table above, and MAX_TEXT is the longest of them.
        fmt::write(&mut key, text).expect("a visitor's text has at most 43 bytes");
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

    use super::{MAX_TEXT, Visitor};

    #[test]
    fn the_longest_text_fits_and_is_the_bound() {
        let longest = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128";
        assert_eq!(Visitor::from_text(format_args!("{longest}")).key(), longest);
        assert_eq!(longest.len(), MAX_TEXT);
    }

    #[test]
    fn debug_hides_the_text_and_as_ref_gives_it() {
        let visitor = Visitor::from_text(format_args!("203.0.113.7"));
        assert_eq!(format!("{visitor:?} {visitor:#?}"), "Visitor(..) Visitor(..)");
        assert_eq!((visitor.as_ref(), visitor.is_local()), ("203.0.113.7", false));
        assert_eq!(
            (Visitor::local().key(), Visitor::local().is_local()),
            ("local", true)
        );
    }

    #[test]
    fn a_map_of_visitors_is_searched_by_text() {
        let counts = HashMap::from([(Visitor::from_text(format_args!("203.0.113.7")), 1)]);
        assert_eq!(
            (counts.get("203.0.113.7"), counts.get("203.0.113.8")),
            (Some(&1), None)
        );
    }

    #[test]
    fn a_clone_stays_small() {
        assert!(size_of::<Visitor>() <= 48);
    }
}
