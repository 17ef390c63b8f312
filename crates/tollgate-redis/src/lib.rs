//! A store on Redis or Valkey, over their own protocol.
//!
//! [`RedisStore`] counts in one server that all machines share.

mod address;
mod builder;
mod link;
mod live;
mod reply;
mod store;
#[cfg(feature = "tls")]
mod tls;

pub use builder::{RedisConfigError, RedisStoreBuilder};
pub use store::RedisStore;
pub use tollgate_script::{Prefix, PrefixError};
