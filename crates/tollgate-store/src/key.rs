//! What a count belongs to.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use crate::{Name, Part, part::Form};

/// What a count belongs to: a name and the parts that distinguish one key under it from another.
///
/// Borrowed, and never put together on the way to a count in memory: it is hashed and compared in parts, and written out only
/// where a wire needs text. Two keys are equal if their names are and their parts, as text, one by one.
///
/// # Text
/// `ask:docs:2001:db8:0:0::/64`: the name and the parts joined by `:`. In a part `%`, `{`, `}` and control bytes are escaped as
/// `%` and two hex digits, and `:` in all but the last; a part above 256 bytes becomes `%#` and its SHA-256. So no two lists of
/// one length read the same, and what is readable stays readable.
///
/// ```
/// use tollgate_store::{Key, KeyParts, Name};
///
/// let parts = ("docs", "2001:db8:0:0::/64").into_parts();
/// let key = Key::new(Name::new("ask"), &parts);
/// assert_eq!(key.to_string(), "ask:docs:2001:db8:0:0::/64");
/// ```
#[derive(Clone, Copy)]
pub struct Key<'a> {
    name: Name<'a>,
    parts: &'a [Part<'a>],
}

/// Comes before a short part in the compared form. No byte of UTF-8 is ever this or the next.
const SHORT: u8 = 0xFF;
/// Comes before the digest of a long one.
const DIGEST: u8 = 0xFE;

impl<'a> Key<'a> {
    /// The key of these parts under this name.
    #[must_use]
    pub const fn new(name: Name<'a>, parts: &'a [Part<'a>]) -> Self {
        Self { name, parts }
    }

    /// The name it begins with.
    #[must_use]
    pub const fn name(&self) -> Name<'a> {
        self.name
    }

    /// Its parts, in order.
    #[must_use]
    pub const fn parts(&self) -> &'a [Part<'a>] {
        self.parts
    }

    /// The bytes that stand for this key and no other, for a store to keep: equal keys give equal bytes.
    ///
    /// Not text, and not what goes over a wire. At most the name and 257 bytes a part.
    #[must_use]
    pub fn to_bytes(&self) -> Box<[u8]> {
        let mut bytes = Vec::with_capacity(self.name.as_str().len() + self.parts.len() * 24);
        bytes.extend_from_slice(self.name.as_str().as_bytes());
        for part in self.parts {
            part.with_form(|form| match form {
                Form::Short(text) => {
                    bytes.push(SHORT);
                    bytes.extend_from_slice(text.as_bytes());
                }
                Form::Digest(digest) => {
                    bytes.push(DIGEST);
                    bytes.extend_from_slice(&digest);
                }
            });
        }
        bytes.into_boxed_slice()
    }

    /// Whether `bytes` is what [`Key::to_bytes`] gives, without making it.
    #[inline]
    #[must_use]
    pub fn is_bytes(&self, bytes: &[u8]) -> bool {
        let Some(mut rest) = bytes.strip_prefix(self.name.as_str().as_bytes()) else { return false };
        for part in self.parts {
            let after = part.with_form(|form| match form {
                Form::Short(text) => rest.strip_prefix(&[SHORT])?.strip_prefix(text.as_bytes()),
                Form::Digest(digest) => rest.strip_prefix(&[DIGEST])?.strip_prefix(&digest),
            });
            let Some(after) = after else { return false };
            rest = after;
        }
        rest.is_empty()
    }
}

impl Hash for Key<'_> {
    /// Feeds the name and the parts one by one; equal keys hash equal under any hasher, in this process.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.name.as_str().as_bytes());
        for part in self.parts {
            part.with_text(|text| {
                state.write_u8(SHORT);
                state.write(text.as_bytes());
            });
        }
    }
}

impl PartialEq for Key<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.parts == other.parts
    }
}

impl Eq for Key<'_> {}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_str())?;
        for (at, part) in self.parts.iter().enumerate() {
            f.write_str(":")?;
            part.write_escaped(f, at + 1 == self.parts.len())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
