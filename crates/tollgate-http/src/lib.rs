//! A Tollgate outcome in the words of HTTP: fields, problem bodies, a tower layer.

mod admit;
mod config;
mod fields;
mod future;
mod layer;
mod problem;
mod rejection;
mod retry_after;
mod service;

pub use admit::{Passed, Refused, admit};
pub use fields::{RATE_LIMIT, RATE_LIMIT_POLICY, rate_limit, rate_limit_policy};
pub use future::GuardFuture;
pub use layer::GuardLayer;
pub use problem::{PROBLEM_JSON, QUOTA_EXCEEDED, TEMPORARY_REDUCED_CAPACITY};
pub use rejection::Rejection;
pub use retry_after::{retry_after, retry_after_seconds};
pub use service::GuardService;
