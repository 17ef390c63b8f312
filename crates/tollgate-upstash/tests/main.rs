//! Tests through the public API, most of them against a real server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod batching;
mod credentials;
mod faults;
mod leaks;
mod requests;
mod retries;
mod scripts;
mod support;
