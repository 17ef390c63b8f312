//! A Tollgate store on Redis or Valkey, over their own protocol.
//!
//! [`RedisStore`] lets several machines count together. One script decides and writes in one round trip, all or nothing; the core
//! decides again on what the script found, and a difference is an error.
//!
//! ```no_run
//! use tollgate_core::{Limit, Timestamp, Window};
//! use tollgate_redis::RedisStore;
//! use tollgate_store::{Charge, Key, KeyParts, Name, Store, Take};
//!
//! # async fn example(now: Timestamp) -> Result<(), Box<dyn std::error::Error>> {
//! let store = RedisStore::connect("redis://127.0.0.1:6379")?; // nothing is connected yet
//!
//! // Twenty in a minute and fifteen in a day: taken both or none.
//! let (burst, day) = ("203.0.113.7".into_parts(), ("docs", "203.0.113.7").into_parts());
//! let charges = [
//!     Charge::new(Key::new(Name::new("ask-burst"), &burst), Limit::fixed(20, Window::MINUTE)),
//!     Charge::new(Key::new(Name::new("ask"), &day), Limit::fixed(15, Window::DAY)),
//! ];
//! let decisions = store.take(Take { charges: &charges, now }).await?;
//! println!("{} left today", decisions[1].remaining());
//! # Ok(())
//! # }
//! ```
//!
//! Calls need a Tokio runtime with time and I/O enabled; it may be another one each time. The connection lives on the runtime of the
//! call that made it: where that one has ended the next call connects anew, and where it stands still, since nobody drives it any
//! more, the next call ends with a `Timeout` before the one after it connects anew.
//!
//! # Connection
//!
//! A store and its clones share one connection, made at the first call, and so do all stores of the process that have one URL, one
//! deadline and the same certificates, whatever their prefix. Calls do not wait for each other on it. When it breaks, the
//! calls that were on their way fail, and the next one connects anew; a connection that the server closed while nothing was on its
//! way costs nobody an error. There is one attempt to connect at a time, however many calls wait for it.
//!
//! | URL | |
//! |---|---|
//! | `redis://user:password@host:6379/0` | also `valkey`; user, password, port and database may be left out |
//! | `rediss://…` | with TLS, by the feature `tls`, which is on by default |
//! | `unix:///run/redis.sock` | over a socket of the file system; also `redis+unix` |
//!
//! TLS trusts what the system trusts, and the certificates given to the builder. It sets nothing for the whole process.
//!
//! # When the server fails
//!
//! Each call ends within one deadline, a second unless told otherwise, connecting included.
//!
//! | what happens | [`StoreErrorKind`](tollgate_store::StoreErrorKind) |
//! |---|---|
//! | no answer by the deadline, from a mute server for instance | `Timeout` |
//! | nobody listens there, or the connection broke | `Unreachable` |
//! | `READONLY`, `LOADING`, `MASTERDOWN`: the connection is dropped too, since another server may have taken over | `Busy` |
//! | `OOM`, `BUSY`, `MISCONF`, too many clients | `Busy` |
//! | `NOPERM`, `NOAUTH`, `WRONGPASS`, `WRONGTYPE`, a value that nobody here writes, a cluster's node | `Reject` |
//! | an answer that is none of the script's | `Garbage` |
//!
//! After a `Timeout` or an `Unreachable` the charge may have been counted. [`RedisStoreBuilder::resends`] sends it again where the
//! connection broke, and it is counted once: the server then remembers each answer for a few seconds.
//!
//! # The server
//!
//! Redis 6 or newer, or Valkey; a single primary, with replicas if you like. A cluster is not supported. Every key has a lifetime, so a
//! server that evicts (`maxmemory-policy volatile-…` or `allkeys-…`) may forget what was spent: give it room, or use `noeviction`.
//! Replication is not waited for: a failover may lose the last moments' charges.
//!
//! A user of its own needs little:
//! ```text
//! ACL SETUSER tollgate on >password ~limit:* +evalsha +eval +get +set +exists +incrby +pttl +pexpire +hmget +hset +del
//! ```
//! All of these: where one is missing, a take of several charges could be written in part. Literal keys of claims need a pattern of their
//! own, such as `~github-delivery:*`.
//!
//! # Claims
//!
//! The store keeps [`Claims`](tollgate_store::Claims) too. All calls about them may arrive twice and are sent again once if the connection
//! breaks. A server that evicts, and a failover, may lose one: what was claimed is then processed again.
//!
//! # What it stands on
//!
//! The client crate `redis`, pinned to 1.8, for the protocol and for the pipelining of many callers on one connection. The streams
//! are opened and watched here: so a connection that has ended is known before anything is sent on it, an error takes no longer than
//! it must, and nothing is sent twice behind the store's back.

mod address;
mod builder;
mod link;
mod live;
mod reply;
mod shared;
mod store;
#[cfg(feature = "tls")]
mod tls;

pub use builder::{RedisConfigError, RedisStoreBuilder};
pub use store::RedisStore;
pub use tollgate_script::{Prefix, PrefixError};
