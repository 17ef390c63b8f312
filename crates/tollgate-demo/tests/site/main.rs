//! The site on a clock set by hand, called without a socket.

#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod always;
mod faulty;
mod input;
mod outage;
mod questions;
mod support;
mod table;
mod work;
