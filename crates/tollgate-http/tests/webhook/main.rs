//! The route piece for webhooks: the order of its steps, and deliveries that repeat, on every store.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod faulty;
mod order;
mod repeats;
mod rig;
#[cfg(feature = "axum")]
mod router;
