//! Why a source could not be built.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

/// Why a source could not be built.
///
/// The texts are the operator's own settings, never a visitor's address and never a secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is no header name.
    HeaderName {
        /// The text as given.
        text: String,
    },
    /// A source that reads a header was not told which peers to believe.
    NoTrustedPeers,
    /// A list of hops was given neither trusted proxies nor a number of hops.
    NoHopRule,
    /// A list of hops was given both trusted proxies and a number of hops.
    TwoHopRules,
    /// The number of hops is not in `1..=32`.
    Hops {
        /// The number as given.
        hops: usize,
    },
    /// The text is no network: an address, or an address without host bits, `/` and a length.
    InvalidCidr {
        /// The text as given.
        text: String,
    },
    /// An IPv4-mapped network is shorter than `/96`, so it would hold far more than it says.
    MappedPrefix {
        /// The text as given.
        text: String,
    },
    /// The networks together hold every address of a family.
    TrustsEverything,
    /// The text is no address.
    InvalidAddress {
        /// The text as given.
        text: String,
    },
    /// The length of the IPv6 prefix is not in `32..=128`.
    PrefixOutOfRange {
        /// The length as given.
        prefix: u8,
    },
    /// The secret for the keyed hash is shorter than 16 bytes.
    ShortSecret {
        /// How many bytes it has.
        bytes: usize,
    },
    /// The option means nothing for this kind of source.
    NotApplicable {
        /// The option's name, as in the text form.
        option: &'static str,
    },
    /// The text names no source.
    UnknownSource {
        /// The word as given.
        text: String,
    },
    /// The text names no option, or gives it a value that it does not have.
    UnknownOption {
        /// The word as given; of one that names no option only the name, since its value may be a secret.
        text: String,
    },
    /// The text gives one option twice.
    RepeatedOption {
        /// The second one, as given.
        text: String,
    },
}

impl ConfigError {
    /// A short, stable name of the variant in `snake_case`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::HeaderName { .. } => "header_name",
            Self::NoTrustedPeers => "no_trusted_peers",
            Self::NoHopRule => "no_hop_rule",
            Self::TwoHopRules => "two_hop_rules",
            Self::Hops { .. } => "hops",
            Self::InvalidCidr { .. } => "invalid_cidr",
            Self::MappedPrefix { .. } => "mapped_prefix",
            Self::TrustsEverything => "trusts_everything",
            Self::InvalidAddress { .. } => "invalid_address",
            Self::PrefixOutOfRange { .. } => "prefix_out_of_range",
            Self::ShortSecret { .. } => "short_secret",
            Self::NotApplicable { .. } => "not_applicable",
            Self::UnknownSource { .. } => "unknown_source",
            Self::UnknownOption { .. } => "unknown_option",
            Self::RepeatedOption { .. } => "repeated_option",
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderName { text } => write!(f, "`{text}` is no header name"),
            Self::NoTrustedPeers => f.write_str(
                "no trusted peers: name the networks that the proxy connects from, or say that any peer may be believed \
                 because the network lets only the proxy in",
            ),
            Self::NoHopRule => {
                f.write_str("a list of hops needs trusted proxies (to walk) or a number of hops (to count)")
            }
            Self::TwoHopRules => f.write_str("trusted proxies and a number of hops exclude each other: keep one"),
            Self::Hops { hops } => {
                write!(f, "{hops} hops: count the proxies that append to the header, from 1 to 32")
            }
            Self::InvalidCidr { text } => {
                write!(f, "`{text}` is no network: write an address, or the first address of the range, `/` and a length")
            }
            Self::MappedPrefix { text } => {
                write!(f, "`{text}` is an IPv4-mapped network shorter than /96: write it as an IPv4 network")
            }
            Self::TrustsEverything => f.write_str(
                "the trusted networks hold every address, so each client could name itself: list the proxies only",
            ),
            Self::InvalidAddress { text } => write!(f, "`{text}` is no address"),
            Self::PrefixOutOfRange { prefix } => {
                write!(f, "an IPv6 prefix of /{prefix}: choose from 32 (a provider) to 128 (one address)")
            }
            Self::ShortSecret { bytes } => {
                write!(f, "a secret of {bytes} bytes: use at least 16 random bytes")
            }
            Self::NotApplicable { option } => {
                write!(f, "`{option}` means nothing for this kind of source: remove it")
            }
            Self::UnknownSource { text } => write!(
                f,
                "`{text}` is no source: use peer, cloudflare, vercel, fly, cloudfront, header:<name>, x-forwarded-for or forwarded"
            ),
            Self::UnknownOption { text } => write!(
                f,
                "`{text}` is no option or value: use peers=, proxies=, hops=, untrusted=, missing=, prefer=, shared=, \
                 prefix=, allow-port, nat64 or 6to4"
            ),
            Self::RepeatedOption { text } => write!(f, "`{text}` sets an option that is already set"),
        }
    }
}

impl Error for ConfigError {}

impl From<Infallible> for ConfigError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use super::ConfigError;

    #[test]
    fn every_kind_has_its_name_and_a_text_that_shows_what_was_given() {
        let text = || "§".to_owned();
        let all = [
            (ConfigError::HeaderName { text: text() }, "header_name", "`§` is no header name"),
            (ConfigError::NoTrustedPeers, "no_trusted_peers", "no trusted peers: "),
            (ConfigError::NoHopRule, "no_hop_rule", "a list of hops needs "),
            (ConfigError::TwoHopRules, "two_hop_rules", "trusted proxies and a number of hops exclude"),
            (ConfigError::Hops { hops: 33 }, "hops", "33 hops: "),
            (ConfigError::InvalidCidr { text: text() }, "invalid_cidr", "`§` is no network: "),
            (ConfigError::MappedPrefix { text: text() }, "mapped_prefix", "`§` is an IPv4-mapped network"),
            (ConfigError::TrustsEverything, "trusts_everything", "the trusted networks hold every address"),
            (ConfigError::InvalidAddress { text: text() }, "invalid_address", "`§` is no address"),
            (ConfigError::PrefixOutOfRange { prefix: 31 }, "prefix_out_of_range", "an IPv6 prefix of /31: "),
            (ConfigError::ShortSecret { bytes: 15 }, "short_secret", "a secret of 15 bytes: "),
            (ConfigError::NotApplicable { option: "hops" }, "not_applicable", "`hops` means nothing"),
            (ConfigError::UnknownSource { text: text() }, "unknown_source", "`§` is no source: "),
            (ConfigError::UnknownOption { text: text() }, "unknown_option", "`§` is no option or value: "),
            (
                ConfigError::RepeatedOption { text: text() },
                "repeated_option",
                "`§` sets an option that is already",
            ),
        ];
        for (error, kind, start) in all {
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().starts_with(start), "{error}");
        }
    }
}
