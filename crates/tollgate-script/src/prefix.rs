//! What all keys of one store begin with.

use std::{fmt, ops::RangeInclusive, sync::Arc};

use tollgate_store::Key;

use crate::Words;

/// What all keys of one store begin with: the namespace that services which count together share.
///
/// ```
/// use tollgate_script::Prefix;
///
/// assert_eq!(Prefix::default().as_str(), "limit");
/// assert!(Prefix::try_new("@upstash/ratelimit").is_ok());
/// assert!(Prefix::try_new("{limit}").is_err());
/// ```
///
/// # Layout
/// | count | key | value |
/// |---|---|---|
/// | a fixed or sliding window | `<prefix>:<key>:<window number>` | the count, a string |
/// | a token bucket | `<prefix>:<key>` | a hash: `refilledAt` in Unix ms, `tokens` |
/// | a claim | `<prefix>:%:claim:<key>` | `p:` or `d:`, the token, until when |
/// | what the library remembers | `<prefix>:%:…` | no key of a count begins so |
///
/// The window number is the time in Unix milliseconds divided by the window's length, rounded down.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Prefix(Arc<str>);

impl Prefix {
    /// The longest prefix, in bytes.
    pub const LONGEST: usize = 128;

    /// Checks a prefix.
    ///
    /// # Errors
    /// Only if it is empty, longer than [`Prefix::LONGEST`], or holds white space, a control character, `{`, `}` or `%`.
    pub fn try_new(prefix: &str) -> Result<Self, PrefixError> {
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '{' | '}' | '%');
        if prefix.is_empty() || prefix.len() > Self::LONGEST || prefix.contains(is_odd) {
            return Err(PrefixError(prefix.chars().take(Self::LONGEST).collect()));
        }
        Ok(Self(prefix.into()))
    }

    /// The prefix as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the key of a bucket.
    pub(crate) fn bucket(&self, key: &Key<'_>, keys: &mut Words) {
        keys.push_formatted(format_args!("{}:{key}", self.0));
    }

    /// Adds the keys of the windows at these places, counted from the one of this number.
    pub(crate) fn windows(&self, key: &Key<'_>, number: u64, places: RangeInclusive<i64>, keys: &mut Words) {
        // An instant is below 2^53, so every number is.
        let current = number.cast_signed();
        let numbers = places.map(|place| current.saturating_add(place));
        keys.push_numbered(format_args!("{}:{key}", self.0), numbers);
    }

    /// Adds a key of the library's own.
    pub(crate) fn own(&self, kind: &str, id: fmt::Arguments<'_>, keys: &mut Words) {
        keys.push_formatted(format_args!("{}:%:{kind}:{id}", self.0));
    }
}

impl Default for Prefix {
    /// `limit`.
    fn default() -> Self {
        Self("limit".into())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A text that is no prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixError(Box<str>);

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no prefix: use 1 to {} bytes without white space, control characters, `{{`, `}}` and `%`, as in `limit`",
            self.0,
            Prefix::LONGEST
        )
    }
}

impl std::error::Error for PrefixError {}
