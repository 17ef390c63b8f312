//! The time that a sender signs, and how far it may be from now.

use std::time::Duration;

use tollgate_core::Timestamp;

use crate::SignatureError;

/// How far the time of a request may be from now, before or after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance(Duration);

impl Tolerance {
    /// Five minutes: what the senders' own libraries allow.
    pub(crate) const DEFAULT: Duration = Duration::from_secs(300);
    /// A day.
    pub(crate) const LONGEST: Duration = Duration::from_secs(86_400);

    pub(crate) fn new(tolerance: Duration) -> Self {
        Self(tolerance.min(Self::LONGEST))
    }

    /// Gives the time back if it is near.
    pub(crate) fn check(self, signed_at: Timestamp, now: Timestamp) -> Result<Timestamp, SignatureError> {
        if now.since(signed_at) > self.0 {
            Err(SignatureError::TooOld)
        } else if signed_at.since(now) > self.0 {
            Err(SignatureError::TooNew)
        } else {
            Ok(signed_at)
        }
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self(Self::DEFAULT)
    }
}

/// Whole Unix seconds, in digits alone: no sign, no space, no fraction, and no more than there is room for.
pub(crate) fn instant(seconds: &[u8]) -> Option<Timestamp> {
    if seconds.is_empty() || seconds.len() > 15 || !seconds.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let seconds: u64 = std::str::from_utf8(seconds).ok()?.parse().ok()?;
    seconds.checked_mul(1_000).map(Timestamp::from_unix_ms)
}
