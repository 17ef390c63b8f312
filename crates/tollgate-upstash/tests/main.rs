//! Tests through the public API, most of them against a real server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod batching;
mod claims;
mod credentials;
mod encryption;
mod faults;
mod histories;
mod leaks;
mod lifetimes;
mod outages;
mod overload;
mod requests;
mod retries;
mod scripts;
mod suite;
mod support;
mod together;
