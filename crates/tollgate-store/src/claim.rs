//! What is asked of a store of claims.

use std::fmt;

use tollgate_core::{Timestamp, Window};

use crate::Key;

/// What a claim is kept under.
///
/// The enum is exhaustive on purpose: a store writes each in its own place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimKey<'a> {
    /// A key as counts have them. A store keeps it apart from counts, so the two may read the same.
    Key(Key<'a>),
    /// This text as it is, without any prefix, shared with programs that know nothing of claims. Whatever such a program stores
    /// there counts as done. Choose texts that no count can have.
    Literal(&'a str),
}

/// Comes before a literal in the compared form. No name begins so.
const LITERAL: u8 = 0xFD;

impl ClaimKey<'_> {
    /// The bytes that stand for this key and no other, for a store to keep: equal keys give equal bytes.
    ///
    /// Not text, and not what goes over a wire.
    #[must_use]
    pub fn to_bytes(&self) -> Box<[u8]> {
        match self {
            Self::Key(key) => key.to_bytes(),
            Self::Literal(text) => [&[LITERAL], text.as_bytes()].concat().into(),
        }
    }
}

impl<'a> From<Key<'a>> for ClaimKey<'a> {
    fn from(key: Key<'a>) -> Self {
        Self::Key(key)
    }
}

impl fmt::Debug for ClaimKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => fmt::Debug::fmt(key, f),
            Self::Literal(text) => fmt::Debug::fmt(text, f),
        }
    }
}

/// Who claims: 128 random bits, made once for each time that work arrives, and the same for each call about it.
///
/// Never derive it from what is claimed: the same work that arrives twice would then be one claim, and be done twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClaimToken(u128);

impl ClaimToken {
    /// The token of these bits.
    #[must_use]
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u128 {
        self.0
    }
}

/// Whoever reads a log could release what it names.
impl fmt::Debug for ClaimToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClaimToken(..)")
    }
}

/// Asks for a key, or for more time with it.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// What is claimed.
    pub key: ClaimKey<'a>,
    /// Who claims.
    pub token: ClaimToken,
    /// For how long: a little above what the work takes at most. It ends by itself where a worker does.
    pub lease: Window,
    /// The caller's time.
    pub now: Timestamp,
}

impl Claim<'_> {
    /// When the lease ends: always after [`Claim::started_at`].
    #[must_use]
    pub fn until(&self) -> Timestamp {
        started_at(self.now).saturating_add_ms(self.lease.ms())
    }

    /// The instant that decides: the caller's time, save that the largest one only ever ends something.
    #[must_use]
    pub fn started_at(&self) -> Timestamp {
        started_at(self.now)
    }
}

/// Says that the work is done.
#[derive(Clone, Copy, Debug)]
pub struct Confirm<'a> {
    /// What was claimed.
    pub key: ClaimKey<'a>,
    /// Who claimed it.
    pub token: ClaimToken,
    /// For how long to remember it as done: above the time in which it can arrive again.
    pub retention: Window,
    /// The caller's time.
    pub now: Timestamp,
}

impl Confirm<'_> {
    /// When it is forgotten.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        started_at(self.now).saturating_add_ms(self.retention.ms())
    }

    /// As [`Claim::started_at`].
    #[must_use]
    pub fn started_at(&self) -> Timestamp {
        started_at(self.now)
    }
}

/// Says that the work is not done and that somebody else may do it.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// What was claimed.
    pub key: ClaimKey<'a>,
    /// Who claimed it.
    pub token: ClaimToken,
}

fn started_at(now: Timestamp) -> Timestamp {
    now.min(Timestamp::from_unix_ms(Timestamp::MAX.unix_ms() - 1))
}
