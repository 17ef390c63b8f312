//! The route piece for webhooks: everything that comes before the work, in the right order.

mod admission;
mod config;
mod ending;
mod hand_over;
mod layer;
mod received;
mod service;
mod source_limit;

pub use config::Arrival;
pub use ending::Ending;
pub use layer::WebhookLayer;
pub use received::{NoDelivery, Received};
pub use service::{WebhookFuture, WebhookService};
