//! The gateway over HTTP, in front of a Redis of its own.
#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod commands;
mod errors;
mod outage;
mod program;
mod scripts;
mod support;
#[cfg(feature = "tls")]
mod tls;
mod transactions;
