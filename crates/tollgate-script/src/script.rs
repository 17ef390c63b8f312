//! The scripts: their texts, and the digests they are called by.

use std::{fmt::Write as _, sync::LazyLock};

use sha1::{Digest, Sha1};

use crate::Dialect;

/// A script that a server runs, one for each method of a store of counts or of claims.
///
/// The enum is exhaustive on purpose: whoever keeps something for each script has to know of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Script {
    /// Takes up to eight charges, all or nothing.
    Take,
    /// Makes many such takes, each by itself.
    TakeMany,
    /// Corrects earlier charges, once for each id.
    Settle,
    /// Forgets keys.
    Forget,
    /// Claims a key for a token.
    Claim,
    /// Gives a claim another end.
    Renew,
    /// Remembers a claim as done.
    Confirm,
    /// Frees a claim.
    Release,
}

impl Script {
    /// All of them.
    pub const ALL: [Self; COUNT] = [
        Self::Take,
        Self::TakeMany,
        Self::Settle,
        Self::Forget,
        Self::Claim,
        Self::Renew,
        Self::Confirm,
        Self::Release,
    ];

    /// Its source: what `EVAL` and `SCRIPT LOAD` want.
    #[must_use]
    pub const fn text(self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Redis => REDIS[self as usize],
            Dialect::Upstash => UPSTASH[self as usize],
        }
    }

    /// The SHA-1 of its source in lower-case hex: what `EVALSHA` wants.
    #[must_use]
    pub fn sha1(self, dialect: Dialect) -> &'static str {
        static DIGESTS: LazyLock<[[String; COUNT]; 2]> = LazyLock::new(|| [REDIS, UPSTASH].map(digests));
        &DIGESTS[dialect as usize][self as usize]
    }
}

/// How many there are.
const COUNT: usize = 8;

/// The sources under a first line, in the order of [`Script::ALL`].
macro_rules! sources {
    ($first_line:literal) => {
        [
            concat!(
                $first_line,
                include_str!("lua/read.lua"),
                include_str!("lua/bucket.lua"),
                include_str!("lua/charge.lua"),
                include_str!("lua/take.lua"),
                include_str!("lua/taking.lua"),
                include_str!("lua/taken.lua")
            ),
            concat!(
                $first_line,
                include_str!("lua/read.lua"),
                include_str!("lua/bucket.lua"),
                include_str!("lua/charge.lua"),
                include_str!("lua/take_many.lua"),
                include_str!("lua/taking.lua"),
                include_str!("lua/taken_many.lua")
            ),
            concat!(
                $first_line,
                include_str!("lua/read.lua"),
                include_str!("lua/bucket.lua"),
                include_str!("lua/settle.lua")
            ),
            concat!($first_line, include_str!("lua/forget.lua")),
            concat!($first_line, include_str!("lua/claimed.lua"), include_str!("lua/claim.lua")),
            concat!($first_line, include_str!("lua/claimed.lua"), include_str!("lua/renew.lua")),
            concat!($first_line, include_str!("lua/claimed.lua"), include_str!("lua/confirm.lua")),
            concat!($first_line, include_str!("lua/claimed.lua"), include_str!("lua/release.lua")),
        ]
    };
}

const REDIS: [&str; COUNT] = sources!("");
const UPSTASH: [&str; COUNT] = sources!("#!lua flags=allow-key-locking\n");

fn digests(texts: [&str; COUNT]) -> [String; COUNT] {
    texts.map(|text| hex(&Sha1::digest(text.as_bytes())))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
