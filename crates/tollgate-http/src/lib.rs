//! A Tollgate outcome in the words of HTTP: fields, problem bodies, a tower layer.
//!
//! [`GuardLayer`] puts a guard in front of any tower service over HTTP; [`admit`](admit()) does the same inside a handler that reads
//! the body before it knows what to charge. Both answer with the same fields and the same problem bodies.
//!
//! It never decides anything, never reads a request's body save a webhook's, never changes a service's error type (a refusal is a
//! response), and never tells a client about a hidden policy, a key or another visitor.
//!
//! ```
//! # #[cfg(feature = "axum")] {
//! # use std::{net::SocketAddr, sync::Arc};
//! # use axum::{Router, body::Body, extract::connect_info::MockConnectInfo, http::Request, routing::get};
//! # use tower::ServiceExt;
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! use tollgate_guard::{Charges, Guard, Limit, OnOutage, Policy, Window};
//! use tollgate_http::{Caller, GuardLayer};
//! # use tollgate_memory::MemoryStore;
//! # use tollgate_visitor::VisitorSource;
//!
//! const ASK: Policy<1> = Policy::new("ask", Limit::fixed(1, Window::DAY), OnOutage::Deny);
//!
//! let guard = Arc::new(Guard::builder(MemoryStore::new()).policy(ASK).build()?);
//! let source = VisitorSource::peer().build()?;
//! let limit = GuardLayer::new(guard, move |head| {
//!     let Caller(visitor) = Caller::of(head, &source)?;
//!     Ok(Charges::from(ASK.charge(&visitor)))
//! });
//! let app: Router = Router::new().route("/ask", get(|| async { "an answer" })).layer(limit);
//! // axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>())
//!
//! # let app = app.layer(MockConnectInfo(SocketAddr::from(([203, 0, 113, 7], 443))));
//! # let ask = || Request::get("/ask").body(Body::empty());
//! assert_eq!(app.clone().oneshot(ask()?).await?.status(), 200);
//! assert_eq!(app.oneshot(ask()?).await?.status(), 429);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An answer that is streamed costs what it used: a [`MeteredBody`] carries a reservation and settles it when the stream ends, fails,
//! or the client goes away.
//!
//! # On the wire
//!
//! ```text
//! HTTP/1.1 429 Too Many Requests
//! RateLimit-Policy: "ask-burst";q=20;w=60, "ask";q=15;w=86400
//! RateLimit: "ask-burst";r=5;t=12, "ask";r=0;t=39712
//! Retry-After: 39712
//! Cache-Control: no-store
//! Content-Type: application/problem+json
//!
//! {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,
//!  "detail":"A limit is reached: ask. Try again in 39712 s.","violated-policies":["ask"]}
//! ```
//!
//! The two fields are on every response of a request that was charged: those of
//! draft-ietf-httpapi-ratelimit-headers-11, written by a crate for structured fields (RFC 9651). Seconds are rounded up, so that a client
//! that obeys is not refused again. What a refusal says in which case is at [`Refused`].
//!
//! Scripts of another origin see these fields in a browser only if a CORS layer outside of this one exposes them.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `visitor` | a [`Rejection`] from the error of a request without a visitor |
//! | `webhook` | `WebhookLayer`: genuine deliveries of a webhook, each once |
//! | `axum` | `visitor`; the extractor `Caller`; [`Passed`], [`Refused`] and [`Rejection`] as responses of a handler |

mod admit;
#[cfg(feature = "axum")]
mod caller;
mod config;
mod fields;
mod future;
mod layer;
mod metered;
mod problem;
mod rejection;
#[cfg(feature = "axum")]
mod responses;
mod retry_after;
mod service;
#[cfg(feature = "webhook")]
mod webhook;

pub use admit::{Passed, Refused, admit};
#[cfg(feature = "axum")]
pub use caller::{Caller, NoCaller};
pub use fields::{RATE_LIMIT, RATE_LIMIT_POLICY, rate_limit, rate_limit_policy};
pub use future::GuardFuture;
pub use layer::GuardLayer;
pub use metered::MeteredBody;
pub use problem::{PROBLEM_JSON, QUOTA_EXCEEDED, TEMPORARY_REDUCED_CAPACITY};
pub use rejection::Rejection;
pub use retry_after::{retry_after, retry_after_seconds};
pub use service::GuardService;
#[cfg(feature = "webhook")]
pub use webhook::{Arrival, Ending, NoDelivery, Received, WebhookFuture, WebhookLayer, WebhookService};
