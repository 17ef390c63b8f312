//! The store on a real server.

mod claims;
#[cfg(feature = "tls")]
mod encrypted;
mod histories;
mod lifetimes;
mod outages;
mod served;
mod setting_up;
mod suite;
