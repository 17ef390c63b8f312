//! Why a request has no visitor.

use std::error::Error;
use std::fmt;

/// Why a request has no visitor.
///
/// No variant carries the address or the header's text, so an error can be logged as it is. Answer a request that
/// has no visitor with a refusal: a shared stand-in key would let one client spend what belongs to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VisitorError {
    /// The caller passed no peer address, and the source needs one.
    NoPeerAddress,
    /// The peer is not one of the trusted peers, and the source rejects such requests.
    UntrustedPeer,
    /// The configured header is absent, and the source takes that as an error.
    MissingHeader,
    /// A header that has one value came more than once.
    RepeatedHeader,
    /// A header that has one value came with a comma-separated list.
    ListNotAllowed,
    /// The part of the header that had to be read holds a byte outside ASCII.
    NotAscii,
    /// The text that had to be read is no address in its strict form.
    MalformedAddress,
    /// The address is unspecified, multicast or broadcast: nobody calls from there.
    NotAClientAddress,
    /// The address is configured as one that many unrelated clients share.
    SharedAddress,
    /// The list has fewer hops than the configured number of proxies.
    TooFewHops,
    /// The list has more than [`MAX_HOPS`](crate::MAX_HOPS) hops.
    TooManyHops,
    /// The header's values hold more than [`MAX_HEADER_BYTES`](crate::MAX_HEADER_BYTES) bytes together.
    HeaderTooLong,
    /// The `Forwarded` header breaks the grammar of RFC 7239 in some place.
    MalformedForwarded,
    /// The hop that had to be read says `unknown`, or has no `for` at all.
    UnknownIdentifier,
    /// The hop that had to be read hides its address behind a made-up name such as `_proxy7`.
    ObfuscatedIdentifier,
}

impl VisitorError {
    /// A short, stable name of the variant in `snake_case`, fit for a metric's label.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoPeerAddress => "no_peer_address",
            Self::UntrustedPeer => "untrusted_peer",
            Self::MissingHeader => "missing_header",
            Self::RepeatedHeader => "repeated_header",
            Self::ListNotAllowed => "list_not_allowed",
            Self::NotAscii => "not_ascii",
            Self::MalformedAddress => "malformed_address",
            Self::NotAClientAddress => "not_a_client_address",
            Self::SharedAddress => "shared_address",
            Self::TooFewHops => "too_few_hops",
            Self::TooManyHops => "too_many_hops",
            Self::HeaderTooLong => "header_too_long",
            Self::MalformedForwarded => "malformed_forwarded",
            Self::UnknownIdentifier => "unknown_identifier",
            Self::ObfuscatedIdentifier => "obfuscated_identifier",
        }
    }

    /// Whether the server or its proxies are set up wrongly, so that the client did nothing to cause it.
    ///
    /// An HTTP answer to these is a 5xx and belongs in the operator's alerts. All others are answers to what was sent: a 4xx.
    #[must_use]
    pub const fn is_setup_fault(&self) -> bool {
        matches!(self, Self::NoPeerAddress | Self::MissingHeader | Self::TooFewHops)
    }
}

impl fmt::Display for VisitorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPeerAddress => {
                "the peer address is not known; with axum, serve through \
                 `into_make_service_with_connect_info::<SocketAddr>()`, and on a unix socket trust any peer instead"
            }
            Self::UntrustedPeer => {
                "the peer is not a trusted proxy; add its network to the trusted peers if it should be"
            }
            Self::MissingHeader => {
                "the configured header is missing; make the proxy set it, or choose what a missing header means"
            }
            Self::RepeatedHeader => {
                "the configured header came more than once; make the proxy replace it instead of adding to it"
            }
            Self::ListNotAllowed => {
                "the configured header holds a list, but its proxy writes one address; check which hop edits it"
            }
            Self::NotAscii => "the configured header holds bytes outside ASCII",
            Self::MalformedAddress => "the configured header holds no address in its strict form",
            Self::NotAClientAddress => {
                "the address is unspecified, multicast or broadcast, which no client can have"
            }
            Self::SharedAddress => "the address is configured as one that unrelated clients share",
            Self::TooFewHops => {
                "the header lists fewer hops than there are proxies; check the number of hops on every route"
            }
            Self::TooManyHops => "the header lists more hops than any real route has",
            Self::HeaderTooLong => "the configured header is longer than any real list of hops",
            Self::MalformedForwarded => "the `Forwarded` header breaks the grammar of RFC 7239",
            Self::UnknownIdentifier => {
                "the hop that names the client does not say who it is; make the proxy write the address"
            }
            Self::ObfuscatedIdentifier => {
                "the hop that names the client hides the address behind a made-up name; make the proxy write the address"
            }
        })
    }
}

impl Error for VisitorError {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::VisitorError::{self, *};

    const ALL: [(VisitorError, &str, bool); 15] = [
        (NoPeerAddress, "no_peer_address", true),
        (UntrustedPeer, "untrusted_peer", false),
        (MissingHeader, "missing_header", true),
        (RepeatedHeader, "repeated_header", false),
        (ListNotAllowed, "list_not_allowed", false),
        (NotAscii, "not_ascii", false),
        (MalformedAddress, "malformed_address", false),
        (NotAClientAddress, "not_a_client_address", false),
        (SharedAddress, "shared_address", false),
        (TooFewHops, "too_few_hops", true),
        (TooManyHops, "too_many_hops", false),
        (HeaderTooLong, "header_too_long", false),
        (MalformedForwarded, "malformed_forwarded", false),
        (UnknownIdentifier, "unknown_identifier", false),
        (ObfuscatedIdentifier, "obfuscated_identifier", false),
    ];

    #[test]
    fn every_kind_has_its_name_its_blame_and_a_text_of_its_own() {
        for (error, kind, setup) in ALL {
            assert_eq!((error.kind(), error.is_setup_fault()), (kind, setup), "{error:?}");
            assert!(error.to_string().starts_with("the "), "{error:?}");
        }
        let texts: HashSet<String> = ALL.iter().map(|(error, ..)| error.to_string()).collect();
        assert_eq!(texts.len(), ALL.len());
    }

    #[test]
    fn a_missing_peer_says_how_axum_gives_it() {
        assert!(NoPeerAddress.to_string().contains("into_make_service_with_connect_info"));
    }
}
