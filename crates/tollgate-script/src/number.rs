//! Numbers on their way to a script.

use tollgate_core::Timestamp;

/// The instant that decides, as the core has it: the largest one only ever ends something.
pub(crate) fn inside(now: Timestamp) -> u64 {
    now.unix_ms().min(Timestamp::MAX.unix_ms() - 1)
}

/// What a key outlives its use by: room for clocks that step back a little.
pub(crate) const SLACK_MS: u64 = 1_000;
