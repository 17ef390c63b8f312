//! What is asked of a store.

use tollgate_core::{Charging, Limit, Stamp, Timestamp, Units, Window};

use crate::{Key, StoreError};

/// The most charges in one take, corrections in one settlement, keys in one forgetting.
pub const MOST_CHARGES: usize = 8;

/// One limit applied to one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge<'a> {
    /// What the count belongs to.
    pub key: Key<'a>,
    /// What it is held against.
    pub limit: Limit,
    /// How many units.
    pub cost: Units,
    /// When it is written.
    pub charging: Charging,
    /// Whether it votes; otherwise it is a shadow.
    pub enforce: bool,
}

impl<'a> Charge<'a> {
    /// One unit, enforced, written if the whole take is admitted.
    #[must_use]
    pub const fn new(key: Key<'a>, limit: Limit) -> Self {
        Self { key, limit, cost: Units::ONE, charging: Charging::IfAllowed, enforce: true }
    }
}

/// Several charges, all or nothing.
#[derive(Clone, Copy, Debug)]
pub struct Take<'a> {
    /// At most [`MOST_CHARGES`], no key twice. None at all is admitted.
    pub charges: &'a [Charge<'a>],
    /// The caller's time.
    pub now: Timestamp,
}

impl Take<'_> {
    /// Checks what every store has to refuse before it touches anything.
    ///
    /// # Errors
    /// Only [`StoreErrorKind::Misuse`](crate::StoreErrorKind::Misuse): more than [`MOST_CHARGES`], or one key twice.
    #[inline]
    pub fn check(&self) -> Result<(), StoreError> {
        check_keys(self.charges, |charge| charge.key)
    }
}

/// The name of a settlement: whoever sends it again gives the same one, and it is applied once.
///
/// Make them so that no two settlements of all processes that share a store ever have one id, for instance from 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SettleId(u128);

impl SettleId {
    /// The id of these 128 bits.
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

/// One charge to correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction<'a> {
    /// The key that was charged.
    pub key: Key<'a>,
    /// The limit it was charged under.
    pub limit: Limit,
    /// The window it was charged in.
    pub stamp: Stamp,
    /// Units more, or fewer where it is negative.
    pub delta: i64,
}

/// How long a charge to a bucket that refills quickly is known at least.
const CHARGE_KNOWN_MS: u64 = Window::HOUR.ms();

impl Correction<'_> {
    /// When this no longer changes anything that counts: until then a store knows the id of its settlement.
    #[must_use]
    pub fn counts_until(&self, now: Timestamp) -> Timestamp {
        let end = self.stamp.window_end();
        match self.limit {
            Limit::FixedWindow { .. } => end,
            Limit::SlidingWindow { window, .. } => end.saturating_add_ms(window.ms()),
            // A bucket has no windows. For a refund: by then what was taken out before it is back. A charge counts at any time, so what
            // is sent again much later must still be known.
            Limit::TokenBucket { .. } => {
                let least = if self.delta > 0 { CHARGE_KNOWN_MS } else { 0 };
                now.saturating_add_ms(self.limit.period().ms().max(least))
            }
        }
    }
}

/// Corrects earlier charges in the windows they were made in.
#[derive(Clone, Copy, Debug)]
pub struct Settle<'a> {
    /// A settlement of this id is applied once, however often it is sent.
    pub id: SettleId,
    /// At most [`MOST_CHARGES`], no key twice.
    pub corrections: &'a [Correction<'a>],
    /// The caller's time.
    pub now: Timestamp,
}

impl Settle<'_> {
    /// Checks what every store has to refuse before it touches anything.
    ///
    /// # Errors
    /// As [`Take::check`].
    pub fn check(&self) -> Result<(), StoreError> {
        check_keys(self.corrections, |correction| correction.key)
    }
}

/// A key and the limit that says in what form it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The key to forget.
    pub key: Key<'a>,
    /// The limit it was charged under.
    pub limit: Limit,
}

/// Forgets what keys have spent: the named keys, never a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Forget<'a> {
    /// At most [`MOST_CHARGES`].
    pub targets: &'a [Target<'a>],
    /// The caller's time: which windows there are to forget.
    pub now: Timestamp,
}

impl Forget<'_> {
    /// Checks what every store has to refuse before it touches anything.
    ///
    /// # Errors
    /// As [`Take::check`].
    pub fn check(&self) -> Result<(), StoreError> {
        check_keys(self.targets, |target| target.key)
    }
}

#[inline]
fn check_keys<'a, T>(items: &[T], key: impl Fn(&T) -> Key<'a>) -> Result<(), StoreError> {
    if items.len() > MOST_CHARGES {
        return Err(StoreError::misuse("more than 8 keys at once: use several calls"));
    }
    let twice = (1..items.len()).any(|at| items[..at].iter().any(|earlier| key(earlier) == key(&items[at])));
    if twice {
        return Err(StoreError::misuse(
            "one key twice in one call: add the costs up, or give the policies different names",
        ));
    }
    Ok(())
}
