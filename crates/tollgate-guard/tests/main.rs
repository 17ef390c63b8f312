//! The guard's tests, one program: a module for each idea.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod builder;
mod check;
mod common;
mod limiter;
mod outage;
mod property;
mod reservation;
mod unattended;
mod wait;
mod warning;
