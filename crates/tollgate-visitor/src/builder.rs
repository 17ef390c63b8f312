//! The settings of a source, checked together before the first request.

use std::net::IpAddr;

use http::header::HeaderName;

use crate::address::Form;
#[cfg(feature = "hash")]
use crate::hash::KeyedHash;
use crate::hops::HopRule;
use crate::identity::{Identity, Unwrap};
use crate::network::Networks;
use crate::source::{Header, Origin, Trust};
use crate::{ConfigError, MAX_HOPS, Network, OnMissing, OnUntrusted, VisitorSource};

/// The settings of a [`VisitorSource`] until [`build`](Self::build) checks them.
///
/// Every option that is left out has its safe value, except whom to trust: a source that reads a header does not build
/// without [`trusted_peers`](Self::trusted_peers), [`any_peer`](Self::any_peer) or
/// [`trusted_proxies`](Self::trusted_proxies). It can also be read from text: see [`FromStr`](#impl-FromStr-for-VisitorSourceBuilder).
#[derive(Clone, Debug)]
#[must_use = "a source is made by `build`"]
pub struct VisitorSourceBuilder {
    kind: Kind,
    peers: Option<Peers>,
    proxies: Option<Result<Vec<Network>, ConfigError>>,
    hops: Option<usize>,
    untrusted: Option<OnUntrusted>,
    missing: Option<OnMissing>,
    prefer: Option<String>,
    allow_port: bool,
    shared: Vec<IpAddr>,
    unwrap: Unwrap,
    ipv6_prefix: u8,
    #[cfg(feature = "hash")]
    hash: Option<Result<KeyedHash, ConfigError>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Peer,
    Single { name: String, form: Form },
    ForwardedFor,
    Forwarded,
}

#[derive(Clone, Debug)]
enum Peers {
    Any,
    Networks(Result<Vec<Network>, ConfigError>),
}

impl VisitorSourceBuilder {
    /// Believes the header only when the peer is in one of these networks: the proxy's.
    ///
    /// Takes texts (`"10.0.0.0/8"`), addresses or [`Network`]s. What it means when the peer is in none of them is
    /// [`on_untrusted`](Self::on_untrusted).
    pub fn trusted_peers<N>(mut self, networks: impl IntoIterator<Item = N>) -> Self
    where
        N: TryInto<Network>,
        ConfigError: From<N::Error>,
    {
        self.peers = Some(Peers::Networks(collect(networks)));
        self
    }

    /// Believes the header from any peer, because the network lets only the proxy in.
    ///
    /// A firewall, a tunnel, mutual TLS or a platform that routes all traffic through its edge makes this true. Where it is
    /// not true, every client chooses its own address.
    pub fn any_peer(mut self) -> Self {
        self.peers = Some(Peers::Any);
        self
    }

    /// Finds the client by walking from the right, past every hop in these networks; they are the trusted peers too,
    /// unless others are named.
    ///
    /// The walk stops with an error at a hop that it cannot read. When all hops are trusted, the leftmost is the client.
    /// Trust no network in which clients live: such a client could write the hops to its left.
    pub fn trusted_proxies<N>(mut self, networks: impl IntoIterator<Item = N>) -> Self
    where
        N: TryInto<Network>,
        ConfigError: From<N::Error>,
    {
        self.proxies = Some(collect(networks));
        self
    }

    /// Finds the client by counting from the right: `1` is the last entry. The number of proxies that append, `1..=32`.
    ///
    /// Every route must pass the same number of proxies. On a shorter one this is an error or, worse, an entry that the
    /// client wrote; where routes differ, walk instead.
    pub fn hops(mut self, hops: usize) -> Self {
        self.hops = Some(hops);
        self
    }

    /// What a request from an untrusted peer means. By default the peer is the visitor.
    pub fn on_untrusted(mut self, untrusted: OnUntrusted) -> Self {
        self.untrusted = Some(untrusted);
        self
    }

    /// What a missing header means. By default it is an error.
    pub fn on_missing(mut self, missing: OnMissing) -> Self {
        self.missing = Some(missing);
        self
    }

    /// Reads this header first, and the source's own only when this one is absent.
    ///
    /// For Cloudflare with "Pseudo IPv4: overwrite headers", where `cf-connecting-ipv6` holds the true address. Leave it
    /// out otherwise: the proxy must own this header as well, or clients choose their address with it.
    pub fn prefer_header(mut self, name: &str) -> Self {
        self.prefer = Some(name.to_owned());
        self
    }

    /// Lets a single header's address carry a port, which is cut off. Lists of hops may always carry ports.
    pub fn allow_port(mut self) -> Self {
        self.allow_port = true;
        self
    }

    /// Refuses these addresses, each of which stands for many unrelated clients. Replaces the source's own list.
    pub fn shared_addresses(mut self, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        self.shared = addresses.into_iter().collect();
        self
    }

    /// Takes the IPv4 address out of NAT64 addresses (`64:ff9b::/96`).
    ///
    /// For a server that only speaks IPv6, behind a translator: without it the whole IPv4 internet is one visitor.
    pub fn nat64(mut self) -> Self {
        self.unwrap.nat64 = true;
        self
    }

    /// Takes the IPv4 address out of 6to4 addresses (`2002::/16`), whose owner has 65,536 `/64` networks otherwise.
    pub fn six_to_four(mut self) -> Self {
        self.unwrap.six_to_four = true;
        self
    }

    /// How many leading bits of an IPv6 address make the visitor, `32..=128`; 64 by default.
    ///
    /// A client usually owns a whole `/64`, often a `/56` and sometimes a `/48`. For a second, looser limit on `/48`
    /// build a second source; the texts of two lengths never collide.
    pub fn ipv6_prefix(mut self, prefix: u8) -> Self {
        self.ipv6_prefix = prefix;
        self
    }

    /// Replaces the visitor's text by a keyed hash of it (HMAC-SHA256, cut to 128 bits), so that no address reaches a
    /// store. The literal `local` stays as it is.
    ///
    /// At least 16 random bytes, kept apart from the store. A new secret makes new visitors of everybody: counts begin
    /// again.
    #[cfg(feature = "hash")]
    pub fn keyed_hash(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.hash = Some(KeyedHash::new(secret.as_ref()));
        self
    }

    /// Checks the settings together and makes the source.
    ///
    /// # Errors
    /// When a setting is out of its bounds, contradicts another, means nothing for this kind of source, or when nothing
    /// says whom to trust.
    pub fn build(self) -> Result<VisitorSource, ConfigError> {
        self.refuse_what_does_not_apply()?;
        if !(32..=128).contains(&self.ipv6_prefix) {
            return Err(ConfigError::PrefixOutOfRange { prefix: self.ipv6_prefix });
        }
        let identity = Identity {
            unwrap: self.unwrap,
            shared: self.shared.iter().map(|&address| self.unwrap.apply(address)).collect(),
            ipv6_prefix: self.ipv6_prefix,
            #[cfg(feature = "hash")]
            hash: self.hash.clone().transpose()?,
        };
        let header = match &self.kind {
            Kind::Peer => {
                return Ok(VisitorSource { origin: Origin::Peer, identity });
            }
            Kind::Single { name, form } => Header::Single {
                name: header_name(name)?,
                prefer: self.prefer.as_deref().map(header_name).transpose()?,
                form: if self.allow_port { Form::MaybePort } else { *form },
            },
            Kind::ForwardedFor => Header::ForwardedFor(self.hop_rule()?),
            Kind::Forwarded => Header::Forwarded(self.hop_rule()?),
        };
        let origin = Origin::Header {
            header,
            trust: self.trust()?,
            untrusted: self.untrusted.unwrap_or_default(),
            missing: self.missing.unwrap_or_default(),
        };
        Ok(VisitorSource { origin, identity })
    }

    pub(crate) fn peer() -> Self {
        Self::new(Kind::Peer)
    }

    pub(crate) fn single(name: &str, form: Form) -> Self {
        Self::new(Kind::Single { name: name.to_owned(), form })
    }

    pub(crate) fn forwarded_for() -> Self {
        Self::new(Kind::ForwardedFor)
    }

    pub(crate) fn forwarded() -> Self {
        Self::new(Kind::Forwarded)
    }

    fn new(kind: Kind) -> Self {
        Self {
            kind,
            peers: None,
            proxies: None,
            hops: None,
            untrusted: None,
            missing: None,
            prefer: None,
            allow_port: false,
            shared: Vec::new(),
            unwrap: Unwrap::default(),
            ipv6_prefix: 64,
            #[cfg(feature = "hash")]
            hash: None,
        }
    }

    /// A setting that has no effect is a belief about the server that is not true.
    fn refuse_what_does_not_apply(&self) -> Result<(), ConfigError> {
        let header = !matches!(self.kind, Kind::Peer);
        let single = matches!(self.kind, Kind::Single { .. });
        let list = header && !single;
        let plain = matches!(self.kind, Kind::Single { form: Form::Plain, .. });
        let options = [
            ("peers", self.peers.is_some(), header),
            ("untrusted", self.untrusted.is_some(), header),
            ("missing", self.missing.is_some(), header),
            ("proxies", self.proxies.is_some(), list),
            ("hops", self.hops.is_some(), list),
            ("prefer", self.prefer.is_some(), single),
            ("allow-port", self.allow_port, plain),
        ];
        match options.into_iter().find(|&(_, given, applies)| given && !applies) {
            Some((option, ..)) => Err(ConfigError::NotApplicable { option }),
            None => Ok(()),
        }
    }

    fn hop_rule(&self) -> Result<HopRule, ConfigError> {
        match (&self.proxies, self.hops) {
            (Some(_), Some(_)) => Err(ConfigError::TwoHopRules),
            (None, None) => Err(ConfigError::NoHopRule),
            (None, Some(hops)) if (1..=MAX_HOPS).contains(&hops) => Ok(HopRule::Count(hops)),
            (None, Some(hops)) => Err(ConfigError::Hops { hops }),
            (Some(proxies), None) => match networks(proxies)? {
                proxies if proxies.is_empty() => Err(ConfigError::NoHopRule),
                proxies => Ok(HopRule::Walk(proxies)),
            },
        }
    }

    fn trust(&self) -> Result<Trust, ConfigError> {
        let trusted = match (&self.peers, &self.proxies) {
            (Some(Peers::Any), _) => return Ok(Trust::Any),
            (Some(Peers::Networks(peers)), _) => networks(peers)?,
            (None, Some(proxies)) => networks(proxies)?,
            (None, None) => return Err(ConfigError::NoTrustedPeers),
        };
        if trusted.is_empty() { Err(ConfigError::NoTrustedPeers) } else { Ok(Trust::Networks(trusted)) }
    }
}

fn collect<N>(networks: impl IntoIterator<Item = N>) -> Result<Vec<Network>, ConfigError>
where
    N: TryInto<Network>,
    ConfigError: From<N::Error>,
{
    networks.into_iter().map(|network| network.try_into().map_err(ConfigError::from)).collect()
}

fn networks(collected: &Result<Vec<Network>, ConfigError>) -> Result<Networks, ConfigError> {
    Networks::new(collected.as_ref().map_err(Clone::clone)?)
}

fn header_name(text: &str) -> Result<HeaderName, ConfigError> {
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| ConfigError::HeaderName { text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use crate::{ConfigError, Network, OnMissing, OnUntrusted, VisitorSource, VisitorSourceBuilder};

    fn kind(builder: VisitorSourceBuilder) -> &'static str {
        builder.build().map_or_else(|error| error.kind(), |_| "ok")
    }

    fn header() -> VisitorSourceBuilder {
        VisitorSource::single_header("x-real-ip").any_peer()
    }

    fn list() -> VisitorSourceBuilder {
        VisitorSource::x_forwarded_for().any_peer()
    }

    #[test]
    fn numbers_have_exact_bounds() {
        for (prefix, expected) in [
            (0, "prefix_out_of_range"),
            (31, "prefix_out_of_range"),
            (32, "ok"),
            (128, "ok"),
            (129, "prefix_out_of_range"),
            (255, "prefix_out_of_range"),
        ] {
            assert_eq!(kind(VisitorSource::peer().ipv6_prefix(prefix)), expected, "/{prefix}");
            assert_eq!(kind(header().ipv6_prefix(prefix)), expected, "/{prefix}");
        }
        for (hops, expected) in [(0, "hops"), (1, "ok"), (32, "ok"), (33, "hops"), (usize::MAX, "hops")] {
            assert_eq!(kind(list().hops(hops)), expected, "{hops} hops");
            assert_eq!(kind(VisitorSource::forwarded().any_peer().hops(hops)), expected, "{hops} hops");
        }
    }

    #[test]
    fn a_header_is_never_believed_without_saying_whom() {
        let none: [Network; 0] = [];
        assert_eq!(kind(VisitorSource::cloudflare()), "no_trusted_peers");
        assert_eq!(kind(VisitorSource::cloudflare().trusted_peers(none)), "no_trusted_peers");
        assert_eq!(kind(VisitorSource::cloudflare().trusted_peers(["0.0.0.0/0"])), "trusts_everything");
        assert_eq!(kind(VisitorSource::cloudflare().trusted_peers(["10.0.0.5/8"])), "invalid_cidr");
        assert_eq!(kind(VisitorSource::cloudflare().trusted_peers(["10.0.0.0/8", "::"])), "ok");
        assert_eq!(kind(VisitorSource::x_forwarded_for().hops(1)), "no_trusted_peers");
        assert_eq!(kind(list()), "no_hop_rule");
        assert_eq!(kind(list().trusted_proxies(none)), "no_hop_rule");
        assert_eq!(kind(list().trusted_proxies(["::/0"])), "trusts_everything");
        assert_eq!(kind(list().trusted_proxies(["10.0.0.5/8"])), "invalid_cidr");
        assert_eq!(kind(list().trusted_proxies(["10.0.0.0/8"]).hops(1)), "two_hop_rules");
        assert_eq!(kind(list().trusted_proxies(["10.0.0.0/8"])), "ok");
        assert_eq!(
            kind(VisitorSource::forwarded().trusted_proxies(["10.0.0.0/8"]).trusted_peers(none)),
            "no_trusted_peers"
        );
        let proxy = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(kind(VisitorSource::forwarded().trusted_proxies([proxy])), "ok");
    }

    #[test]
    fn an_option_without_effect_is_refused() {
        let refused = |builder: VisitorSourceBuilder, option| {
            assert_eq!(builder.build().unwrap_err(), ConfigError::NotApplicable { option });
        };
        refused(VisitorSource::peer().any_peer(), "peers");
        refused(VisitorSource::peer().trusted_peers(["10.0.0.0/8"]), "peers");
        refused(VisitorSource::peer().on_untrusted(OnUntrusted::Peer), "untrusted");
        refused(VisitorSource::peer().on_missing(OnMissing::Error), "missing");
        refused(VisitorSource::peer().trusted_proxies(["10.0.0.0/8"]), "proxies");
        refused(VisitorSource::peer().hops(1), "hops");
        refused(VisitorSource::peer().prefer_header("x"), "prefer");
        refused(VisitorSource::peer().allow_port(), "allow-port");
        refused(header().trusted_proxies(["10.0.0.0/8"]), "proxies");
        refused(header().hops(1), "hops");
        refused(VisitorSource::cloudfront().any_peer().allow_port(), "allow-port");
        for list in [VisitorSource::x_forwarded_for(), VisitorSource::forwarded()] {
            refused(list.clone().any_peer().hops(1).prefer_header("x"), "prefer");
            refused(list.any_peer().hops(1).allow_port(), "allow-port");
        }
        assert_eq!(kind(header().prefer_header("x").allow_port().on_untrusted(OnUntrusted::Reject)), "ok");
    }

    #[cfg(feature = "hash")]
    #[test]
    fn a_secret_has_at_least_sixteen_bytes() {
        let error = VisitorSource::peer().keyed_hash([7; 15]).build().unwrap_err();
        assert_eq!(error, ConfigError::ShortSecret { bytes: 15 });
        assert_eq!(kind(VisitorSource::peer().keyed_hash([7; 16])), "ok");
        assert_eq!(kind(VisitorSource::peer().keyed_hash([7; 1000])), "ok");
    }

    #[cfg(feature = "hash")]
    #[test]
    fn debug_hides_the_secret() {
        let builder = VisitorSource::peer().keyed_hash("a secret of many bytes");
        assert!(format!("{builder:?}").contains("hash: Some(Ok(KeyedHash(..)))"), "{builder:?}");
        assert!(format!("{:?}", builder.build()).contains("hash: Some(KeyedHash(..))"));
    }
}
