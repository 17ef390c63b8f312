//! Throwaway servers for the project's own tests, and what every store on a Redis is tried with: a dev-dependency, never
//! published.
//!
//! ```no_run
//! let server = tollgate_testbed::RedisServer::start();
//! server.run(&["SET", "limit:ask:0", "7"]);
//! println!("{}", server.url());
//! ```

mod canned;
mod guarded;
mod log;
pub mod owed;
mod proxy;
mod redis_server;
#[cfg(feature = "gateway")]
mod rest_api;
mod served;
mod storm;
mod strangers;
mod wait;
mod watched;

pub use canned::Canned;
pub use guarded::{Guarded, SLACK};
pub use log::Log;
pub use proxy::Proxy;
pub use redis::Value;
pub use redis_server::{Entry, RedisServer};
#[cfg(feature = "gateway")]
pub use rest_api::{READ_ONLY_TOKEN, RestApi, TOKEN};
pub use served::Served;
pub use storm::survive_restarts;
pub use strangers::strangers;
pub use watched::Watched;
