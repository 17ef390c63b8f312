//! Tests through the public API, some of them against a real server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cut_off;
mod deliveries;
mod github;
mod hostile;
mod places;
mod secrets;
mod servers;
mod simple;
mod standard;
mod stripe;
