//! Window math for rate limits: state in, decision out, time is an argument.
//!
//! This crate decides whether a charge fits a limit, what is left, and when a refused charge would fit, in exact integers:
//! no rounding admits a unit too many or loses one. It is the specification that every Tollgate store follows.
//!
//! It never reads a clock, allocates, waits or knows a key. It is `no_std` and depends on nothing; the feature `serde`
//! (off by default) reads and writes limits in configuration files.
//!
//! ```
//! use tollgate_core::{Charging, Limit, Timestamp, Units, Window};
//!
//! const LIMIT: Limit = Limit::sliding(1, Window::MINUTE);
//!
//! let first = Timestamp::from_unix_ms(59_999);
//! let step = LIMIT.step(None, Units::ONE, first, Charging::IfAllowed, true);
//! assert!(step.decision.is_allowed());
//!
//! // Two milliseconds later another window has begun, and the hit before still weighs.
//! let second = Timestamp::from_unix_ms(60_001);
//! let step = LIMIT.step(step.state, Units::ONE, second, Charging::IfAllowed, true);
//! assert!(!step.decision.is_allowed());
//! assert_eq!(step.decision.retry_at(), Some(Timestamp::from_unix_ms(120_000)));
//! ```
//!
//! # Map
//!
//! | to | use |
//! |---|---|
//! | say what is limited | [`Limit`], of [`Units`] and a [`Window`] |
//! | decide one charge | [`Limit::step`]: a [`State`] and a cost in, a [`Step`] out |
//! | decide several, all or nothing | [`decide`] |
//! | read the answer | [`Decision`], [`Verdict`] |
//! | correct a charge later | [`Limit::settle`] with the [`Stamp`] of the decision |
//! | know how long to keep a state | [`Limit::idle_at`] |
//!
//! # Bounds
//!
//! Units are 0 to 2^53 − 1, windows 1 ms to 2^40 ms, instants 0 to 2^53 − 1 ms after the epoch. Sums saturate at these ends.
//!
//! # Configuration files
//!
//! With the feature `serde` a [`Limit`] is read from its text or from a table of one entry, and written as the table:
//!
//! | text | table (here as JSON) |
//! |---|---|
//! | `"30 per 1 m"` | `{"fixed-window": {"quota": 30, "window": "1 m"}}` |
//! | `"30 per 1 m sliding"` | `{"sliding-window": {"quota": 30, "window": "1 m"}}` |
//! | `"bucket 100 refill 10 per 1 s"` | `{"token-bucket": {"capacity": 100, "refill": 10, "interval": "1 s"}}` |
//!
//! A [`Window`] is its text, [`Units`] and a [`Timestamp`] are numbers. What cannot be read is refused with the whole
//! reason: unknown names, numbers out of range, a refill of 0. Limits need a format that says what it holds (JSON, TOML,
//! YAML).

#![no_std]

mod bucket;
mod charging;
mod decide;
mod decision;
mod excerpt;
mod limit;
#[cfg(feature = "serde")]
mod serde;
mod state;
mod text;
mod timestamp;
mod units;
mod window;
mod windows;

pub use charging::Charging;
pub use decide::{Asked, ClockBehind, decide};
pub use decision::{Decision, Step, Verdict};
pub use limit::{Limit, LimitError};
pub use state::{Stamp, State};
pub use text::ParseLimitError;
pub use timestamp::Timestamp;
pub use units::{Units, UnitsError};
pub use window::{Window, WindowError};
