//! Rate limits and budgets for expensive endpoints: one dependency, features choose the parts.
//!
//! Tollgate meters requests and stops what costs too much. A [`Policy`] is a limit with a name and a failure mode; a [`Guard`]
//! applies several to one request, all or nothing; a store keeps the counts. This crate is the front door: it re-exports the parts
//! and chooses among them, and holds no logic of its own.
//!
//! ```
//! use tollgate::{Guard, Limit, MemoryStore, OnOutage, Outcome, Policy, Window};
//!
//! const ASK: Policy<1> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny);
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let guard = Guard::builder(MemoryStore::new()).policy(ASK).build()?;
//! match guard.check(&[ASK.charge("203.0.113.7")]).await {
//!     Outcome::Allow(pass) => assert_eq!(pass.decisions()[0].decision().remaining(), 14),
//!     Outcome::Deny(refusal) => println!("429, again at {:?}", refusal.retry_at()),
//!     Outcome::Unavailable(_) => println!("503"),
//! }
//! # Ok::<(), tollgate::GuardError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `memory` (default) | [`MemoryStore`], [`memory_limiter`], and the choosers [`store`], [`claims`] and [`limiter`] |
//! | `upstash` | the module `upstash`: one count for many machines, in Upstash's Redis over its REST API |
//! | `redis` | the module `redis`: one count for many machines, in Redis or Valkey over their own protocol; `redis-tls` adds TLS |
//! | `visitor` | the module `visitor`: who is calling |
//! | `hash` | visitors as keyed hashes, so that no address leaves the process |
//! | `http` | the module `http`: header fields, problem bodies, the tower layer |
//! | `axum` | `http` and `visitor`, with extractors and responses for axum |
//! | `webhook` | the module `webhook`: signatures, and deliveries that are processed once; with `http` also `http::WebhookLayer` |
//! | `tokio` | `Guard::until_allowed`, which waits on Tokio's timer, and `tokio_spawner`, which settles what was dropped |
//! | `serde` | limits and windows in configuration files |
//!
//! # Limits
//!
//! In memory each process counts for itself: `m` machines admit up to `m` times a quota. Give them one store, with `upstash` or
//! `redis`, and they count together.

#[cfg(feature = "memory")]
mod env;
#[cfg(feature = "memory")]
mod limiter;
#[cfg(feature = "memory")]
mod options;

#[cfg(feature = "memory")]
pub use env::{EnvError, StoreKind, claims, store};
#[cfg(feature = "memory")]
pub use limiter::{MemoryLimiterError, memory_limiter};
#[cfg(feature = "memory")]
pub use options::{LimiterOptions, OptionsError, limiter};
pub use tollgate_guard::*;
#[cfg(feature = "memory")]
pub use tollgate_memory::{CapacityError, MemoryStats, MemoryStore};
pub use tollgate_store::{
    Charge, Claim, ClaimKey, ClaimToken, Claimed, Claims, Confirm, Correction, Decisions, Forget, Hold, Key,
    Release, Settle, SettleId, Take, Target,
};

#[cfg(feature = "http")]
pub use tollgate_http as http;
#[cfg(feature = "redis")]
pub use tollgate_redis as redis;
#[cfg(feature = "upstash")]
pub use tollgate_upstash as upstash;
#[cfg(feature = "visitor")]
pub use tollgate_visitor as visitor;
#[cfg(feature = "webhook")]
pub use tollgate_webhook as webhook;

/// The examples of the repository's front page, run as written.
#[cfg(all(doctest, feature = "axum"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Those of the guide for newcomers.
#[cfg(all(doctest, feature = "webhook"))]
#[doc = include_str!("../../../docs/coming-from.md")]
struct ComingFrom;
