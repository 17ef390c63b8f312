//! The site on a clock set by hand, called without a socket.

#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod always;
mod answers;
mod budget;
mod events;
mod faulty;
mod input;
mod live;
mod outage;
mod questions;
mod support;
mod table;
mod visitor;
mod webhook;
mod work;
