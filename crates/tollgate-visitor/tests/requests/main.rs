//! Requests and what they come to, as rows.
#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod keys;
mod lists;
mod rows;
mod single;
