//! The contract between the window math and whatever keeps the counts.
//!
//! A [`Store`] takes several [`Charge`]s all or nothing, settles and forgets; [`Claims`] keep who works on what, so that a message
//! which arrives twice is worked on once. This crate holds the two traits, the [`Key`] a count or a claim belongs to, what is asked
//! and what is answered; `tollgate-memory` and the stores on Redis implement both, and `tollgate-suite` certifies any other.
//!
//! It never knows a policy, a backend or HTTP.
//!
//! ```
//! use tollgate_core::{Limit, Timestamp, Window};
//! use tollgate_store::{Charge, Decisions, Key, KeyParts, Name, Take};
//!
//! let parts = ("docs", "203.0.113.7").into_parts();
//! let charge = Charge::new(Key::new(Name::new("ask"), &parts), Limit::fixed(15, Window::DAY));
//! let take = Take { charges: &[charge], now: Timestamp::from_unix_ms(1_700_000_000_000) };
//!
//! // What every store does with the states it finds: decide, then keep what `write` is given.
//! let mut kept = None;
//! let decisions = Decisions::decide(&take, [None], |_, state| kept = state)?;
//! assert!(decisions.is_admitted() && kept.is_some());
//! assert_eq!(decisions[0].remaining(), 14);
//! # Ok::<(), tollgate_store::StoreError>(())
//! ```
//!
//! # Four kinds of answer
//!
//! | what happened | how it is said |
//! |---|---|
//! | the request may go ahead | [`Verdict::Allow`](tollgate_core::Verdict::Allow) |
//! | the limit is reached | [`Verdict::Deny`](tollgate_core::Verdict::Deny), never an `Err` |
//! | the store failed or was too slow | `Err(StoreError)` |
//! | the caller asked for nonsense | `Err(StoreError)` of the kind [`StoreErrorKind::Misuse`] |
//!
//! # Features
//!
//! `deadline` adds `Deadline`, a decorator that
//! bounds how long a store may take, on Tokio's timer.

mod charge;
mod claim;
mod claims;
#[cfg(feature = "deadline")]
mod deadline;
mod decisions;
mod error;
mod key;
mod name;
mod part;
mod random_id;
mod store;

pub use charge::{Charge, Correction, Forget, MOST_CHARGES, Settle, SettleId, Take, Target};
pub use claim::{Claim, ClaimKey, ClaimToken, Confirm, Release};
pub use claims::{Claimed, Claims, Hold};
#[cfg(feature = "deadline")]
pub use deadline::{Deadline, DeadlineError};
pub use decisions::Decisions;
pub use error::{StoreError, StoreErrorKind};
pub use key::Key;
pub use name::{Name, NameError, OwnedName};
pub use part::{KeyPart, KeyParts, Part, Subject};
pub use random_id::random_id;
pub use store::Store;
