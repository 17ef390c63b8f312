//! Who is calling: headers and a peer address in, one visitor out.
//!
//! A rate limit per visitor is worth as much as the address it counts by. [`VisitorSource`] takes that address from exactly
//! one configured place, reads it strictly, and turns it into a [`Visitor`]: a short text that is the same for every
//! spelling of one client, and that no client can choose.
//!
//! It **never** counts anything, never falls back from one header to another, never believes a header from an untrusted
//! peer, never uses header text as a key, and never looks a name up.
//!
//! ```
//! use http::HeaderMap;
//! use std::net::{IpAddr, Ipv4Addr};
//! use tollgate_visitor::{VisitorError, VisitorSource};
//!
//! // One proxy in front, in 10.0.0.0/8, that appends to X-Forwarded-For.
//! let source = VisitorSource::x_forwarded_for().trusted_proxies(["10.0.0.0/8"]).build()?;
//! let proxy = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)));
//! let mut headers = HeaderMap::new();
//!
//! // The client sent `192.0.2.66` to pass for another; the proxy appended the address it saw.
//! headers.insert("x-forwarded-for", "192.0.2.66, 203.0.113.9".parse()?);
//! assert_eq!(source.identify(&headers, proxy)?.key(), "203.0.113.9");
//!
//! // An IPv6 client is its network: it owns all addresses in it.
//! headers.insert("x-forwarded-for", "2001:db8::1".parse()?);
//! assert_eq!(source.identify(&headers, proxy)?.key(), "2001:db8:0:0::/64");
//!
//! // In production a missing header is an error, not a key that all clients share.
//! assert_eq!(source.identify(&HeaderMap::new(), proxy).unwrap_err(), VisitorError::MissingHeader);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which source behind which proxy
//!
//! | in front of the server | source | mind |
//! |---|---|---|
//! | nothing | [`peer`](VisitorSource::peer) | behind any proxy it makes one visitor of everybody |
//! | Cloudflare | [`cloudflare`](VisitorSource::cloudflare) | trust Cloudflare's published networks, or any peer behind a tunnel or authenticated origin pulls |
//! | Vercel | [`vercel`](VisitorSource::vercel) | outside Vercel it is a header that anyone can send |
//! | Fly.io | [`fly`](VisitorSource::fly) | with another CDN in front, use that CDN's header: Fly's names the CDN |
//! | `CloudFront` | [`cloudfront`](VisitorSource::cloudfront) | switch the header on in the origin request policy |
//! | nginx, `HAProxy` or Caddy that replaces a header | [`single_header`](VisitorSource::single_header) | the proxy must replace, not add |
//! | nginx, Envoy or Traefik that appends, in known networks | [`x_forwarded_for`](VisitorSource::x_forwarded_for), `trusted_proxies` | no client may live in those networks |
//! | AWS ALB (1 hop), `CloudFront` and ALB (2), Google's load balancer (2) | [`x_forwarded_for`](VisitorSource::x_forwarded_for), `hops` | every route must have the same number |
//! | a proxy that writes RFC 7239 | [`forwarded`](VisitorSource::forwarded), `trusted_proxies` or `hops` | it must replace or append to a client's own `Forwarded` |
//!
//! Networks of providers change, so none are built in: load them at start-up with [`Network::parse_list`]. A source can
//! also be read [from one line of text](VisitorSourceBuilder#impl-FromStr-for-VisitorSourceBuilder).
//!
//! # Limits
//!
//! - At most [`MAX_HOPS`] hops and [`MAX_HEADER_BYTES`] of the configured header; more is an error. Work is linear in that.
//! - One IPv4 address may be thousands of people (mobile carriers, offices): keep limits per visitor loose on what is
//!   cheap, and prefer an account where there is one.
//! - A `/64` may be a whole campus, and one client may rent a `/56`: [`ipv6_prefix`](VisitorSourceBuilder::ipv6_prefix).
//! - The PROXY protocol belongs to whoever accepts the connection; pass its address as the peer.
//! - A visitor's text is personal data unless hashed, and a pseudonym even then. The feature `hash` adds
//!   `VisitorSourceBuilder::keyed_hash`; errors and `Debug` never show an address.

mod address;
mod builder;
mod config_error;
mod error;
mod field;
mod forwarded;
mod forwarded_for;
#[cfg(feature = "hash")]
mod hash;
mod hops;
mod identity;
mod network;
mod source;
mod text;
mod visitor;

pub use builder::VisitorSourceBuilder;
pub use config_error::ConfigError;
pub use error::VisitorError;
pub use hops::{MAX_HEADER_BYTES, MAX_HOPS};
pub use network::Network;
pub use source::{OnMissing, OnUntrusted, VisitorSource};
pub use visitor::Visitor;
