//! The name that a key begins with.

use std::fmt;

/// A checked name: lower-case words joined by `:`, such as `ask`, `page-retry` or `playground:minute`.
///
/// A word is letters, digits and single hyphens between them, and a name begins with a letter: at most 64 bytes in all.
/// Nothing in it ever needs escaping, in a key or in a header.
///
/// ```
/// use tollgate_store::Name;
///
/// const ASK: Name<'static> = Name::new("ask");
/// assert_eq!(ASK.as_str(), "ask");
/// assert!(Name::try_new("Ask us").is_err());
/// ```
///
/// In a constant, what is no name does not compile:
/// ```compile_fail,E0080
/// const ASK: tollgate_store::Name<'static> = tollgate_store::Name::new("Ask us");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name<'a>(&'a str);

impl<'a> Name<'a> {
    /// The longest name, in bytes.
    pub const LONGEST: usize = 64;

    /// Checks a name that is known when the program is written.
    ///
    /// # Panics
    /// If it is no name: in a constant that is a compile error. For names that arrive at run time there is
    /// [`Name::try_new`].
    #[must_use]
    pub const fn new(name: &'a str) -> Self {
        assert!(
            is_name(name.as_bytes()),
            "a name is lower-case words of a-z, 0-9 and - joined by `:`, at most 64 bytes"
        );
        Self(name)
    }

    /// Checks a name that arrived at run time.
    ///
    /// # Errors
    /// Only if it is no name.
    pub fn try_new(name: &'a str) -> Result<Self, NameError> {
        if is_name(name.as_bytes()) { Ok(Self(name)) } else { Err(NameError::new(name)) }
    }

    /// A copy that owns its text.
    #[must_use]
    pub fn to_owned(self) -> OwnedName {
        OwnedName(self.0.into())
    }

    /// The name as text.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// Whether `other` is this name, or this name and more words after a `:`.
    ///
    /// Two such names must not stand side by side: the further words of one could be a part of the other's key.
    #[must_use]
    pub fn covers(self, other: Name<'_>) -> bool {
        other.0.strip_prefix(self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }
}

const fn is_name(name: &[u8]) -> bool {
    if name.is_empty() || name.len() > Name::LONGEST || !name[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 0;
    let mut in_word = false;
    while at < name.len() {
        match name[at] {
            b'a'..=b'z' | b'0'..=b'9' => in_word = true,
            b'-' | b':' if in_word => in_word = false,
            _ => return false,
        }
        at += 1;
    }
    in_word
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

/// A checked name that owns its text, for whoever keeps one.
///
/// ```
/// use tollgate_store::{Name, OwnedName};
///
/// let name = OwnedName::try_new("ask")?;
/// assert_eq!(name.as_name(), Name::new("ask"));
/// # Ok::<(), tollgate_store::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnedName(Box<str>);

impl OwnedName {
    /// Checks a name.
    ///
    /// # Errors
    /// Only if it is no name.
    pub fn try_new(name: &str) -> Result<Self, NameError> {
        Name::try_new(name).map(Self::from)
    }

    /// The name.
    #[must_use]
    pub const fn as_name(&self) -> Name<'_> {
        Name(&self.0)
    }
}

impl From<Name<'_>> for OwnedName {
    fn from(name: Name<'_>) -> Self {
        Self(name.0.into())
    }
}

/// A text that is no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError(Box<str>);

impl NameError {
    fn new(name: &str) -> Self {
        Self(name.chars().take(Name::LONGEST).collect())
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no name: use lower-case words of a-z, 0-9 and - joined by `:`, at most {} bytes, as in `playground:minute`",
            self.0,
            Name::LONGEST
        )
    }
}

impl std::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case_words() {
        let longest = "a".repeat(64);
        for name in ["a", "ask", "ask-burst", "playground:minute", "a1:2-3:b", &longest] {
            assert_eq!(Name::try_new(name).map(Name::as_str), Ok(name));
        }
        let too_long = "a".repeat(65);
        for name in [
            "", "A", "ask ", " ask", "1ask", "-ask", "ask-", "ask:", ":ask", "a::b", "a--b", "a-:b", "a:-b",
            "a%b", "a{b", "a_b", "a\n", "ä", "a\"b", &too_long,
        ] {
            let error = Name::try_new(name).unwrap_err().to_string();
            assert!(error.contains("lower-case words"), "{name}");
        }
    }

    #[test]
    fn a_name_covers_itself_and_its_extensions() {
        let ask = Name::new("ask");
        assert!(ask.covers(ask) && ask.covers(Name::new("ask:day")));
        assert!(!ask.covers(Name::new("ask-burst")) && !Name::new("ask:day").covers(ask));
    }
}
