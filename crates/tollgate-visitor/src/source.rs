//! The one configured source of a server's visitors, and what it makes of a request.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::HeaderName;

use crate::address::Form;
use crate::builder::VisitorSourceBuilder;
use crate::hops::HopRule;
use crate::identity::Identity;
use crate::network::Networks;
use crate::{Visitor, VisitorError, field, forwarded, forwarded_for};

/// Where a server takes its visitors' addresses from: exactly one place, fixed at start-up.
///
/// There is no chain of headers to fall back on: a client that may send the second header chooses its own address
/// whenever the first is absent. A source is built once, by one of the functions below or from text ([`FromStr`]), and
/// then shared; it is immutable.
///
/// [`FromStr`]: std::str::FromStr
#[derive(Clone, Debug)]
pub struct VisitorSource {
    pub(crate) origin: Origin,
    pub(crate) identity: Identity,
}

/// What a missing header means, once the peer is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnMissing {
    /// The request has no visitor: [`VisitorError::MissingHeader`]. The default, and the only right choice where the
    /// proxy always sets the header.
    #[default]
    Error,
    /// All such requests are the one visitor `local`. For development machines, where no proxy stands in front.
    Local,
    /// The peer is the visitor. For servers that proxies and direct clients reach through the same trusted network.
    Peer,
}

/// What a request means whose peer is not a trusted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnUntrusted {
    /// The header is ignored and the peer is the visitor: the client came around the proxy. The default.
    #[default]
    Peer,
    /// The request has no visitor: [`VisitorError::UntrustedPeer`].
    Reject,
}

#[derive(Clone, Debug)]
pub(crate) enum Origin {
    Peer,
    Header { header: Header, trust: Trust, untrusted: OnUntrusted, missing: OnMissing },
}

#[derive(Clone, Debug)]
pub(crate) enum Header {
    Single { name: HeaderName, prefer: Option<HeaderName>, form: Form },
    ForwardedFor(HopRule),
    Forwarded(HopRule),
}

/// Whose headers count.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    Any,
    Networks(Networks),
}

impl VisitorSource {
    /// The peer of the connection; every header is ignored. Right where no proxy stands in front.
    pub fn peer() -> VisitorSourceBuilder {
        VisitorSourceBuilder::peer()
    }

    /// A header in which the last proxy writes one address, replacing what the client sent.
    pub fn single_header(name: &str) -> VisitorSourceBuilder {
        VisitorSourceBuilder::single(name, Form::Plain)
    }

    /// Cloudflare: `CF-Connecting-IP`.
    ///
    /// Refuses `2a06:98c0:3600::103`, which stands for every Worker of every other zone at once;
    /// [`shared_addresses`](VisitorSourceBuilder::shared_addresses) replaces that list.
    pub fn cloudflare() -> VisitorSourceBuilder {
        Self::single_header("cf-connecting-ip").shared_addresses([CLOUDFLARE_WORKERS])
    }

    /// Vercel: `x-vercel-forwarded-for`, which also survives a proxy placed behind Vercel.
    pub fn vercel() -> VisitorSourceBuilder {
        Self::single_header("x-vercel-forwarded-for")
    }

    /// Fly.io: `Fly-Client-IP`.
    pub fn fly() -> VisitorSourceBuilder {
        Self::single_header("fly-client-ip")
    }

    /// Amazon `CloudFront`: `CloudFront-Viewer-Address`, which always ends in a port and writes IPv6 without brackets.
    ///
    /// The distribution's origin request policy has to add the header.
    pub fn cloudfront() -> VisitorSourceBuilder {
        VisitorSourceBuilder::single("cloudfront-viewer-address", Form::LastColonPort)
    }

    /// `X-Forwarded-For`, to which each proxy appends.
    ///
    /// Say how the client's hop is found: [`trusted_proxies`](VisitorSourceBuilder::trusted_proxies) or
    /// [`hops`](VisitorSourceBuilder::hops).
    pub fn x_forwarded_for() -> VisitorSourceBuilder {
        VisitorSourceBuilder::forwarded_for()
    }

    /// `Forwarded` (RFC 7239), to which each proxy appends.
    ///
    /// Say how the client's hop is found: [`trusted_proxies`](VisitorSourceBuilder::trusted_proxies) or
    /// [`hops`](VisitorSourceBuilder::hops).
    pub fn forwarded() -> VisitorSourceBuilder {
        VisitorSourceBuilder::forwarded()
    }

    /// The visitor behind a request with these headers, from this peer.
    ///
    /// The peer is the address at the other end of the connection, `None` where it is not known (a unix socket). Work is
    /// linear in the configured header, which may have at most [`MAX_HEADER_BYTES`](crate::MAX_HEADER_BYTES).
    ///
    /// # Errors
    /// When the request has no visitor by the source's rules. An error never means that a client is over a limit, and
    /// never carries the address.
    pub fn identify(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Visitor, VisitorError> {
        let address = match &self.origin {
            Origin::Peer => peer.ok_or(VisitorError::NoPeerAddress)?,
            Origin::Header { header, trust, untrusted, missing } => {
                match (trust.distrusted(peer)?, untrusted) {
                    (Some(peer), OnUntrusted::Peer) => peer,
                    (Some(_), OnUntrusted::Reject) => return Err(VisitorError::UntrustedPeer),
                    (None, _) => match (header.client(headers)?, missing) {
                        (Some(client), _) => client,
                        (None, OnMissing::Error) => return Err(VisitorError::MissingHeader),
                        (None, OnMissing::Local) => return Ok(Visitor::local()),
                        (None, OnMissing::Peer) => peer.ok_or(VisitorError::NoPeerAddress)?,
                    },
                }
            }
        };
        self.identity.visitor(address)
    }
}

impl Trust {
    /// The peer, if its headers do not count.
    fn distrusted(&self, peer: Option<IpAddr>) -> Result<Option<IpAddr>, VisitorError> {
        match self {
            Self::Any => Ok(None),
            Self::Networks(networks) => {
                let peer = peer.ok_or(VisitorError::NoPeerAddress)?;
                Ok(Some(peer).filter(|&peer| !networks.contains(peer)))
            }
        }
    }
}

impl Header {
    fn client(&self, headers: &HeaderMap) -> Result<Option<IpAddr>, VisitorError> {
        match self {
            Self::Single { name, prefer, form } => {
                if let Some(prefer) = prefer
                    && let Some(client) = field::single(headers, prefer, *form)?
                {
                    return Ok(Some(client));
                }
                field::single(headers, name, *form)
            }
            Self::ForwardedFor(rule) => forwarded_for::client(headers, rule),
            Self::Forwarded(rule) => forwarded::client(headers, rule),
        }
    }
}

/// What Cloudflare gives as the client of a Worker's request to another zone.
const CLOUDFLARE_WORKERS: IpAddr =
    IpAddr::V6(std::net::Ipv6Addr::new(0x2a06, 0x98c0, 0x3600, 0, 0, 0, 0, 0x103));
