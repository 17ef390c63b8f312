//! What every Tollgate store owes, as cases to run and a differential test.
//!
//! A store is certified by one line in its tests, [`certify!`]: it makes a test of each [`Case`], and one that lets
//! random histories happen to the store and to the [`Reference`] and demands the same answers, field by field.
//! Certify every decorator of a store too.
//!
//! ```
//! mod owes {
//!     use tollgate_suite::Reference;
//!
//!     tollgate_suite::certify! { #[tokio::test] Reference::new() }
//! }
//! ```
//!
//! This is a dev-dependency; it is nobody's normal one. It brings no runtime and reads no clock: the times that a
//! case names are its own, and nothing in it waits.
//!
//! [`certify_claims!`] does the same for a store of [`Claims`](tollgate_store::Claims): cases, and random histories against
//! [`ReferenceClaims`].
//!
//! # What is demanded
//!
//! | group | of a store |
//! |---|---|
//! | `take` | what a take admits, refuses and leaves, of each algorithm, alone and together |
//! | `charging` | charges that are written in every case, in none, or beside the others |
//! | `settle` | corrections: once, in their own window, of what still counts |
//! | `forget` | the named keys and no others |
//! | `keys` | no two part lists share a count |
//! | `misuse` | an error of its own kind, and nothing written |
//! | `clock` | window edges, and clocks that are behind |
//! | `exact` | the points where arithmetic that is almost right goes wrong |
//! | `concurrency` | takes that race |
//!
//! A store needs room for a few hundred keys at once. Each case has keys of its own, so all can run against one server at
//! the same time; there they make some 20,000 calls. No case hangs on what is kept of an idle state, save that a clock may
//! step back by half a second over the end of a window. What a store keeps beyond this contract, such as a capacity or
//! lifetimes, it tests itself.

mod case;
mod cases;
mod certify;
mod claims;
mod compare;
mod differential;
mod failure;
mod ground;
mod history;
mod owed;
mod reference;
mod setting;

pub use case::{Case, Door, case, cases, run_all};
pub use claims::{
    CLAIM_STEPS, ClaimCase, ReferenceClaims, claim_case, claim_cases, claims_differential, run_all_claims,
};
pub use differential::{SEEDS, STEPS, differential};
pub use failure::Failure;
pub use reference::Reference;
pub use setting::Setting;
