//! Sending takes again without counting them twice.

use std::time::Duration;

use sha1::{Digest, Sha1};

use crate::{Prefix, Words, script::hex};

/// Lets takes be sent again: the server remembers the answer, so however often the same call arrives it is counted once.
///
/// Only what wrote something is remembered: a take that was refused has nothing to be counted twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    id: u128,
    keep_ms: u64,
}

impl Replay {
    /// The request of this id, remembered for so long, in whole milliseconds rounded up.
    ///
    /// Make the id of 128 random bits for each call, and the same for each time it is sent. `keep` has to be longer than the
    /// caller goes on sending, plus the longest that a sent call can still be on its way; past that a straggler counts again.
    #[must_use]
    pub fn new(id: u128, keep: Duration) -> Self {
        let ms = keep.as_nanos().div_ceil(1_000_000);
        Self { id, keep_ms: u64::try_from(ms).unwrap_or(u64::MAX).clamp(1, LONGEST_MS) }
    }

    /// Adds what a single take is told by.
    pub(crate) fn add_args(self, args: &mut Words) {
        args.push("r");
        args.push_number(self.keep_ms);
    }

    /// Adds for how many milliseconds to remember.
    pub(crate) fn add_keep(self, args: &mut Words) {
        args.push_number(self.keep_ms);
    }

    /// Adds the key that the answer is remembered under: of the id and of all that is asked, so that it answers this call and no
    /// other.
    pub(crate) fn add_key(self, prefix: &Prefix, keys: &mut Words, args: &Words) {
        let mut digest = Sha1::new();
        digest.update(self.id.to_be_bytes());
        for word in keys.iter().chain(args.iter()) {
            digest.update(word.as_bytes());
            digest.update([0xFF]); // no byte of UTF-8, so that no two lists of words are one
        }
        let digest = hex(&digest.finalize()[..16]);
        prefix.own("take", format_args!("{digest}"), keys);
    }
}

/// A year: beyond any deadline, and far from where a server's own sums overflow.
const LONGEST_MS: u64 = 366 * 86_400_000;
