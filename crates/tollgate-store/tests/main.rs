//! The contract of a store: its keys, what it is asked, what it answers.

mod asked;
#[cfg(feature = "deadline")]
mod deadline;
mod decisions;
mod errors;
mod keys;
mod shared;
mod support;
