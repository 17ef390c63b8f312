//! Where and when a suite is run.

use std::hash::{DefaultHasher, Hash, Hasher};

use tollgate_core::{Timestamp, Window};
use tollgate_store::SettleId;

/// Where and when a suite is run: what keeps its keys and times apart from those of everybody else.
///
/// The default is right for a store of its own, such as one in memory. Against a server that is shared, or that lets
/// keys expire by a clock of its own, `epoch` has to be that clock's present and `run` a number that no other run
/// uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// No case names a time before this one. The suite never waits: its times go ahead of any clock.
    pub epoch: Timestamp,
    /// A part of every key and of every settlement's id.
    pub run: u64,
}

impl Default for Setting {
    fn default() -> Self {
        Self { epoch: Timestamp::from_unix_ms(1_760_000_000_000), run: 0 }
    }
}

impl Setting {
    /// The start of a window which itself, and the one before it, lie after the epoch.
    pub(crate) fn start(&self, window: Window) -> Timestamp {
        let windows = self.epoch.unix_ms().div_ceil(window.ms()).saturating_add(1);
        Timestamp::from_unix_ms(windows.saturating_mul(window.ms()))
    }

    /// The id of what this describes, in this run.
    pub(crate) fn id(&self, of: impl Hash) -> SettleId {
        let mut hasher = DefaultHasher::new();
        of.hash(&mut hasher);
        SettleId::new(u128::from(self.run) << 64 | u128::from(hasher.finish()))
    }
}

/// `ms` milliseconds before `at`.
pub(crate) const fn before(at: Timestamp, ms: u64) -> Timestamp {
    Timestamp::from_unix_ms(at.unix_ms().saturating_sub(ms))
}

/// `ms` milliseconds after `at`.
pub(crate) const fn after(at: Timestamp, ms: u64) -> Timestamp {
    at.saturating_add_ms(ms)
}
