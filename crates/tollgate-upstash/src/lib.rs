//! One count for many machines, in Upstash's Redis over its REST API.

mod base_url;
mod batch;
mod builder;
mod client;
mod command;
mod credentials;
mod credentials_error;
mod failure;
mod http_transport;
mod queue;
mod reply;
mod response;
mod service_error;
mod shared;
mod store;
mod tls;
mod token;
mod transport;

pub use builder::{BuildError, UpstashStoreBuilder};
pub use credentials::Credentials;
pub use credentials_error::{CredentialsError, EnvError};
pub use http_transport::HttpTransport;
pub use store::UpstashStore;
pub use tollgate_script::{Prefix, PrefixError};
pub use transport::{Transport, TransportError};
