//! Benches of Tollgate beside its peers.
//!
//! What is measured is in [`scenario`], who is measured in [`contender`]; the binary prints a table of ratios from one run, and
//! `benches/` gives the same pairs to criterion.

pub mod contender;
pub mod layer;
pub mod measure;
pub mod net;
pub mod scenario;
