//! One key and what is remembered of it.

use tollgate_core::{State, Timestamp};
use tollgate_store::Key;

/// A place of the table: free, or one key and its state.
pub(crate) struct Slot {
    pub(crate) key: StoredKey,
    pub(crate) state: State,
    /// From then on the state says the same as no key at all.
    pub(crate) idle_at: Timestamp,
    /// The number of its last use, which no other slot has; [`Slot::FREE`] where no key is.
    pub(crate) last_use: u64,
    /// Kept because the index asks for it when it moves, and the stored bytes are not what was hashed.
    pub(crate) hash: u32,
    /// Whether the last charge that could have been refused was.
    pub(crate) refusing: bool,
}

impl Slot {
    /// The last use of a slot without a key: before every real one.
    pub(crate) const FREE: u64 = 0;

    #[inline]
    pub(crate) fn is_idle(&self, now: Timestamp) -> bool {
        self.idle_at <= now
    }
}

/// The bytes that stand for a key: in the slot where they fit, so that a lookup follows no pointer.
pub(crate) enum StoredKey {
    Inline { len: u8, bytes: [u8; INLINE] },
    Boxed(Box<[u8]>),
}

/// As long as a key can be without making the slot larger than the box and its tag do.
const INLINE: usize = 46;

impl StoredKey {
    pub(crate) const EMPTY: Self = Self::Inline { len: 0, bytes: [0; INLINE] };

    pub(crate) fn new(key: &Key<'_>) -> Self {
        let boxed = key.to_bytes();
        let mut bytes = [0; INLINE];
        match (bytes.get_mut(..boxed.len()), u8::try_from(boxed.len())) {
            (Some(room), Ok(len)) => {
                room.copy_from_slice(&boxed);
                Self::Inline { len, bytes }
            }
            _ => Self::Boxed(boxed),
        }
    }

    #[inline]
    pub(crate) fn is(&self, key: &Key<'_>) -> bool {
        key.is_bytes(match self {
            Self::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Self::Boxed(bytes) => bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use tollgate_store::{KeyParts, Name};

    use super::*;

    #[test]
    fn keys_are_kept_whole_whatever_their_length() {
        let name = Name::new("ask");
        // The name, a mark and the part: 42 bytes of part are the last that fit, and the digest of a long one does.
        for len in [0, 1, 41, 42, 43, 100, 256, 257, 10_000] {
            let (part, longer) = ("x".repeat(len), "x".repeat(len + 1));
            let (part, longer) = (part.as_str().into_parts(), longer.as_str().into_parts());
            let stored = StoredKey::new(&Key::new(name, &part));
            assert!(stored.is(&Key::new(name, &part)), "{len}");
            assert!(!stored.is(&Key::new(name, &longer)), "{len}");
            assert_eq!(matches!(stored, StoredKey::Inline { .. }), len <= 42 || len > 256, "{len}");
        }
    }

    #[test]
    fn a_slot_stays_small() {
        assert_eq!(size_of::<StoredKey>(), 48);
        assert_eq!(size_of::<Slot>(), 112);
    }
}
