//! Throwaway servers for the project's own tests: a dev-dependency, never published.
//!
//! ```no_run
//! let server = tollgate_testbed::RedisServer::start();
//! server.run(&["SET", "limit:ask:0", "7"]);
//! println!("{}", server.url());
//! ```

mod canned;
mod proxy;
mod redis_server;

pub use canned::Canned;
pub use proxy::Proxy;
pub use redis::Value;
pub use redis_server::RedisServer;
