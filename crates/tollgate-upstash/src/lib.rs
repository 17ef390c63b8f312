//! One count for many machines, in Upstash's Redis over its REST API.
//!
//! [`UpstashStore`] is for services that are started and stopped all the time, or that can only speak HTTP: none of its
//! connections has to last, and several machines, or several runs of a function, spend from one count. It is written
//! for Upstash's REST API as documented, and tested against `tollgate-gateway`, on which Upstash's own clients run unmodified.
//!
//! It never knows a policy, and never decides: a script takes the charges where the counts live, and `tollgate-core` decides on
//! what the script found.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use tollgate_core::{Limit, Timestamp, Window};
//! use tollgate_store::{Charge, Key, KeyParts, Name, Store, Take};
//! use tollgate_upstash::{Credentials, UpstashStore};
//!
//! let credentials = Credentials::from_env(|name| std::env::var(name).ok())?.ok_or("no database is configured")?;
//! let store = UpstashStore::new(credentials)?;
//!
//! let visitor = "203.0.113.7".into_parts();
//! let charge = Charge::new(Key::new(Name::new("ask"), &visitor), Limit::sliding(20, Window::MINUTE));
//! let now = Timestamp::from_unix_ms(1_764_547_200_000); // a guard's clock says this
//! let decisions = store.take(Take { charges: &[charge], now }).await?;
//! println!("{} left", decisions[0].remaining());
//! # Ok(()) }
//! ```
//!
//! # Credentials
//!
//! | variables | looked at |
//! |---|---|
//! | `KV_REST_API_URL`, `KV_REST_API_TOKEN` | first |
//! | `UPSTASH_REDIS_REST_URL`, `UPSTASH_REDIS_REST_TOKEN` | if those are not both set |
//!
//! The token has to be the standard one: a read-only token cannot count. It is in no error, in no log, and in nobody's `Debug`.
//!
//! # What a call comes to
//!
//! | what happens | the error |
//! |---|---|
//! | no connection, or it breaks | [`Unreachable`](tollgate_store::StoreErrorKind::Unreachable), after two more tries |
//! | a status of 5xx | [`Busy`](tollgate_store::StoreErrorKind::Busy), after two more tries |
//! | no answer within the deadline, of one second unless set otherwise | [`Timeout`](tollgate_store::StoreErrorKind::Timeout) |
//! | Redis is loading, failing over or out of memory | [`Busy`](tollgate_store::StoreErrorKind::Busy) |
//! | a wrong token, a quota of the service, a value of another type | [`Reject`](tollgate_store::StoreErrorKind::Reject) |
//! | an answer that is none of the API's | [`Garbage`](tollgate_store::StoreErrorKind::Garbage) |
//!
//! Tries are 100 ms apart and all within the one deadline. However often a take arrives, it is counted once: the server remembers
//! its answer for ten seconds, or twice the deadline if that is [longer](UpstashStoreBuilder::replay_for). A take that ends with `Timeout` or `Unreachable`, or whose future is
//! dropped, may have been counted.
//!
//! # Claims
//!
//! The store keeps [`Claims`](tollgate_store::Claims) too: calls about them may arrive any number of times, so they are sent again like
//! all others, and nothing has to be remembered for that.
//!
//! # Batches
//!
//! Calls that are made at the same time share a request: at most 1,000 in one, and at most 16 requests in flight. Nobody waits for
//! a batch to fill: a request takes along whatever was ready to be sent when its turn came. Each caller keeps an error, a deadline and a
//! cancellation of its own. Takes in one request go as commands of up to 64: they share a call of the script and a remembered answer, and
//! what the script does for each is still done for each. [`UpstashStoreBuilder::batching`] turns it off: then each call is a request of its own, of which at
//! most 128 are in flight, and the others wait for their turn within their deadline.
//!
//! When the service cannot keep up, only so much is sent as it answers in time, and the newest calls first. A call that could not
//! be answered by its deadline any more is not sent: it ends with a `Timeout` that says so, and was not counted.

mod base_url;
mod batch;
mod builder;
mod client;
mod command;
mod credentials;
mod credentials_error;
mod failure;
mod http_transport;
mod parcel;
mod queue;
mod reply;
mod response;
mod round_trips;
mod service_error;
mod shared;
mod singles;
mod store;
mod timer;
mod tls;
mod together;
mod token;
mod transport;
mod window;

pub use builder::{UpstashConfigError, UpstashStoreBuilder};
pub use credentials::Credentials;
pub use credentials_error::{CredentialsError, EnvError};
pub use http_transport::HttpTransport;
pub use store::UpstashStore;
pub use tollgate_script::{Prefix, PrefixError};
pub use transport::{Transport, TransportError};
