//! What is remembered of a key between two charges.

use crate::{Timestamp, Units};

/// What a store keeps for one key; two shapes for all kinds of limit.
///
/// The enum is exhaustive on purpose: a store writes each shape in its own form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The counters of a fixed or sliding window. It speaks of a start and an end, not of a width, so that windows of
    /// the calendar can come.
    Window {
        /// When the current window began.
        start: Timestamp,
        /// When it ends; this instant belongs to the next one.
        end: Timestamp,
        /// Units spent in it.
        used: Units,
        /// Units spent in the window before it.
        before: Units,
    },
    /// The contents of a bucket.
    Bucket {
        /// When it was last refilled, or was last full.
        refilled_at: Timestamp,
        /// Units in it then; below zero is debt, at worst −(2^53 − 1).
        tokens: i64,
    },
}

/// The window a charge was made in, which is all that [`Limit::settle`](crate::Limit::settle) needs to find it again.
///
/// Named by its end: [`Decision::reset_at`](crate::Decision::reset_at) of that charge. For a bucket it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(Timestamp);

impl Stamp {
    /// The stamp of the window that ends at `end`.
    #[must_use]
    pub const fn ending_at(end: Timestamp) -> Self {
        Self(end)
    }

    /// When that window ends.
    #[must_use]
    pub const fn window_end(self) -> Timestamp {
        self.0
    }
}
