//! A source as one line of text, for an environment variable or a configuration file.

use std::collections::HashSet;
use std::str::FromStr;

use crate::builder::VisitorSourceBuilder;
use crate::{ConfigError, Network, OnMissing, OnUntrusted, VisitorSource};

/// Reads a source from words separated by white space: first its name, then options in any order, each at most once.
///
/// | source | |
/// |---|---|
/// | `peer` `cloudflare` `vercel` `fly` `cloudfront` `x-forwarded-for` `forwarded` | the function of that name |
/// | `header:<name>` | [`VisitorSource::single_header`] |
///
/// | option | values |
/// |---|---|
/// | `peers=` | `any`, or networks separated by commas; `loopback` and `private` stand for [`Network::loopback`] and [`Network::private`] |
/// | `proxies=` | networks, as above |
/// | `hops=` | `1` to `32` |
/// | `untrusted=` | `peer`, `reject` |
/// | `missing=` | `error`, `local`, `peer` |
/// | `prefer=` | a header name |
/// | `shared=` | addresses separated by commas, or `none` |
/// | `prefix=` | `32` to `128` |
/// | `allow-port` `nat64` `6to4` | |
///
/// A secret has no place in such a line: parse the builder, then add the keyed hash to it.
///
/// ```
/// use tollgate_visitor::VisitorSource;
///
/// let development: VisitorSource = "cloudflare peers=loopback missing=local".parse()?;
/// let behind_two_proxies: VisitorSource = "x-forwarded-for hops=2 peers=10.0.0.0/8".parse()?;
/// assert!("x-forwarded-for".parse::<VisitorSource>().is_err()); // whom to trust?
/// # Ok::<(), tollgate_visitor::ConfigError>(())
/// ```
impl FromStr for VisitorSourceBuilder {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut words = text.split_ascii_whitespace();
        let mut builder = source(words.next().unwrap_or_default())?;
        let mut seen = HashSet::new();
        for word in words {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            if !seen.insert(name) {
                return Err(ConfigError::RepeatedOption { text: word.to_owned() });
            }
            builder = option(builder, word, name, value)?;
        }
        Ok(builder)
    }
}

/// The line that [`VisitorSourceBuilder`] reads, built at once.
impl FromStr for VisitorSource {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        text.parse::<VisitorSourceBuilder>()?.build()
    }
}

fn source(word: &str) -> Result<VisitorSourceBuilder, ConfigError> {
    Ok(match word {
        "peer" => VisitorSource::peer(),
        "cloudflare" => VisitorSource::cloudflare(),
        "vercel" => VisitorSource::vercel(),
        "fly" => VisitorSource::fly(),
        "cloudfront" => VisitorSource::cloudfront(),
        "x-forwarded-for" => VisitorSource::x_forwarded_for(),
        "forwarded" => VisitorSource::forwarded(),
        _ => match word.strip_prefix("header:") {
            Some(name) => VisitorSource::single_header(name),
            None => {
                return Err(ConfigError::UnknownSource { text: word.to_owned() });
            }
        },
    })
}

const OPTIONS: [&str; 11] = [
    "peers",
    "proxies",
    "hops",
    "untrusted",
    "missing",
    "prefer",
    "shared",
    "prefix",
    "allow-port",
    "nat64",
    "6to4",
];

fn option(
    builder: VisitorSourceBuilder,
    word: &str,
    name: &str,
    value: Option<&str>,
) -> Result<VisitorSourceBuilder, ConfigError> {
    let unknown = || ConfigError::UnknownOption { text: word.to_owned() };
    Ok(match (name, value) {
        ("peers", Some("any")) => builder.any_peer(),
        ("peers", Some(list)) => builder.trusted_peers(networks(list)?),
        ("proxies", Some(list)) => builder.trusted_proxies(networks(list)?),
        ("hops", Some(hops)) => builder.hops(number(hops).ok_or_else(unknown)?),
        ("untrusted", Some("peer")) => builder.on_untrusted(OnUntrusted::Peer),
        ("untrusted", Some("reject")) => builder.on_untrusted(OnUntrusted::Reject),
        ("missing", Some("error")) => builder.on_missing(OnMissing::Error),
        ("missing", Some("local")) => builder.on_missing(OnMissing::Local),
        ("missing", Some("peer")) => builder.on_missing(OnMissing::Peer),
        ("prefer", Some(header)) => builder.prefer_header(header),
        ("shared", Some("none")) => builder.shared_addresses([]),
        ("shared", Some(list)) => {
            let address =
                |text: &str| text.parse().map_err(|_| ConfigError::InvalidAddress { text: text.to_owned() });
            builder.shared_addresses(list.split(',').map(address).collect::<Result<Vec<_>, _>>()?)
        }
        ("prefix", Some(prefix)) => builder.ipv6_prefix(number(prefix).ok_or_else(unknown)?),
        ("allow-port", None) => builder.allow_port(),
        ("nat64", None) => builder.nat64(),
        ("6to4", None) => builder.six_to_four(),
        _ if OPTIONS.contains(&name) => return Err(unknown()),
        // Its value may be a secret that was taken for an option.
        _ => return Err(ConfigError::UnknownOption { text: name.to_owned() }),
    })
}

fn networks(list: &str) -> Result<Vec<Network>, ConfigError> {
    let mut networks = Vec::new();
    for word in list.split(',') {
        match word {
            "loopback" => networks.extend(Network::loopback()),
            "private" => networks.extend(Network::private()),
            _ => networks.push(word.parse()?),
        }
    }
    Ok(networks)
}

/// Decimal digits only: the standard parser also takes a sign.
fn number<N: FromStr>(text: &str) -> Option<N> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use crate::{VisitorSource, VisitorSourceBuilder};

    fn kind(line: &str) -> &'static str {
        line.parse::<VisitorSource>().map_or_else(|error| error.kind(), |_| "ok")
    }

    /// The built sources as text: two lines that mean the same make the same source.
    fn assert_same(line: &str, built: VisitorSourceBuilder) {
        assert_eq!(
            format!("{:?}", line.parse::<VisitorSource>().unwrap()),
            format!("{:?}", built.build().unwrap()),
            "{line}"
        );
    }

    #[test]
    fn a_line_means_what_the_builder_says() {
        use crate::{Network, OnMissing, OnUntrusted};

        assert_same("peer", VisitorSource::peer());
        assert_same(" peer\tprefix=48 ", VisitorSource::peer().ipv6_prefix(48));
        assert_same("peer nat64", VisitorSource::peer().nat64());
        assert_same("peer 6to4", VisitorSource::peer().six_to_four());
        assert_same("cloudflare peers=any", VisitorSource::cloudflare().any_peer());
        assert_same("vercel peers=any", VisitorSource::vercel().any_peer());
        assert_same("fly peers=any", VisitorSource::fly().any_peer());
        assert_same("cloudfront peers=any", VisitorSource::cloudfront().any_peer());
        assert_same(
            "cloudflare peers=loopback,192.0.2.1 missing=local shared=none prefer=cf-connecting-ipv6",
            VisitorSource::cloudflare()
                .trusted_peers(["127.0.0.0/8", "::1", "192.0.2.1"])
                .on_missing(OnMissing::Local)
                .shared_addresses([])
                .prefer_header("CF-Connecting-IPv6"),
        );
        assert_same(
            "header:X-Real-IP allow-port untrusted=reject missing=error peers=private",
            VisitorSource::single_header("x-real-ip")
                .allow_port()
                .on_untrusted(OnUntrusted::Reject)
                .on_missing(OnMissing::Error)
                .trusted_peers(Network::private()),
        );
        assert_same(
            "x-forwarded-for hops=2 peers=10.0.0.0/8 shared=192.0.2.9,2001:db8::9",
            VisitorSource::x_forwarded_for()
                .trusted_peers(["10.0.0.0/8"])
                .hops(2)
                .shared_addresses(["192.0.2.9".parse().unwrap(), "2001:db8::9".parse().unwrap()]),
        );
        assert_same(
            "forwarded proxies=10.0.0.0/8 missing=peer untrusted=peer",
            VisitorSource::forwarded()
                .trusted_proxies(["10.0.0.0/8"])
                .on_missing(OnMissing::Peer)
                .on_untrusted(OnUntrusted::Peer),
        );
    }

    #[test]
    fn a_line_with_a_mistake_is_refused() {
        let rows = [
            ("", "unknown_source"),
            ("Peer", "unknown_source"),
            ("cf-connecting-ip", "unknown_source"),
            ("header=x-real-ip", "unknown_source"),
            ("peer peer", "unknown_option"),
            ("peer prefix", "unknown_option"),
            ("peer prefix=", "unknown_option"),
            ("peer prefix=+64", "unknown_option"),
            ("peer prefix=256", "unknown_option"),
            ("peer nat64=yes", "unknown_option"),
            ("peer NAT64", "unknown_option"),
            ("peer secret=x", "unknown_option"),
            ("fly peers=any missing=ignore", "unknown_option"),
            ("fly peers=any untrusted=allow", "unknown_option"),
            ("x-forwarded-for peers=any hops=two", "unknown_option"),
            ("x-forwarded-for peers=any hops=+2", "unknown_option"),
            ("x-forwarded-for peers=any hops=-2", "unknown_option"),
            ("peer prefix=64 prefix=64", "repeated_option"),
            ("fly peers=any peers=loopback", "repeated_option"),
            ("peer nat64 nat64", "repeated_option"),
            ("fly peers=", "invalid_cidr"),
            ("fly peers=loopback,", "invalid_cidr"),
            ("fly peers=loopback,any", "invalid_cidr"),
            ("forwarded proxies=any", "invalid_cidr"),
            ("fly peers=any shared=", "invalid_address"),
            ("fly peers=any shared=192.0.2.0/24", "invalid_address"),
            ("header: peers=any", "header_name"),
            ("header:x_real/ip peers=any", "header_name"),
            ("fly peers=any prefer=a:b", "header_name"),
        ];
        for (line, expected) in rows {
            assert_eq!(kind(line), expected, "{line}");
        }
    }

    #[test]
    fn a_mistake_is_shown_as_it_was_given() {
        let error = |line: &str| line.parse::<VisitorSource>().unwrap_err().to_string();
        assert!(error("fly missing=x").starts_with("`missing=x` is no option"));
        assert!(error("peer secret=hunter2").starts_with("`secret` is no option"), "no secret is shown");
        assert!(error("peer nat64=yes").starts_with("`nat64=yes` is no option"));
        assert!(error("peer nat64 nat64").starts_with("`nat64` sets an option"));
        assert!(error("fly shared=192.0.2.1,x").starts_with("`x` is no address"));
        assert!(error("header:a:b peers=any").starts_with("`a:b` is no header name"));
        assert!(error("nobody").starts_with("`nobody` is no source"));
    }
}
