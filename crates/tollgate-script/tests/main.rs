//! What is sent, what comes back, and the scripts themselves on a real server.

mod answers;
mod arithmetic;
mod calls;
mod dialects;
mod errors;
mod lifetimes;
mod many;
mod support;
mod wrong_types;
