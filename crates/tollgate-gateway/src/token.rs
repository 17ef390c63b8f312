//! What a client proves itself with.

use std::{collections::HashSet, fmt, net::IpAddr};

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// The fewest characters, and the fewest different ones, of a token that may be asked for from other machines.
const STRONG_LENGTH: usize = 32;
const STRONG_VARIETY: usize = 8;

/// A secret in visible ASCII. It is never shown: not by `Debug`, not in an error.
#[derive(Clone)]
pub(crate) struct Token(Box<[u8]>);

/// What a client may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everything the gateway lets through.
    Full,
    /// Commands that change nothing and search nothing.
    ReadOnly,
}

/// The tokens of a gateway.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    full: Token,
    read_only: Option<Token>,
}

impl Token {
    /// A token as it may stand in a header field: visible ASCII without spaces, at least one character.
    pub(crate) fn try_new(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.as_bytes().into()))
    }

    fn is_strong(&self) -> bool {
        let variety: HashSet<u8> = self.0.iter().copied().collect();
        self.0.len() >= STRONG_LENGTH && variety.len() >= STRONG_VARIETY
    }

    fn matches(&self, given: &[u8]) -> Choice {
        self.0.ct_eq(given)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Tokens {
    pub(crate) fn new(full: Token, read_only: Option<Token>) -> Self {
        Self { full, read_only }
    }

    /// What the bearer of `given` may do, in a time that does not depend on how much of it is right.
    pub(crate) fn access(&self, given: &[u8]) -> Option<Access> {
        let full = self.full.matches(given);
        let read_only = self.read_only.as_ref().map_or(Choice::from(0), |token| token.matches(given));
        // Both are compared before either is looked at.
        let found = u8::conditional_select(&u8::conditional_select(&0, &1, read_only), &2, full);
        match found {
            2 => Some(Access::Full),
            1 => Some(Access::ReadOnly),
            _ => None,
        }
    }

    /// Whether clients on that side of the network may be asked for these tokens: on other machines guessing
    /// must be hopeless.
    pub(crate) fn suit(&self, address: IpAddr) -> bool {
        let strong = self.full.is_strong() && self.read_only.as_ref().is_none_or(Token::is_strong);
        address.to_canonical().is_loopback() || strong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRONG: &str = "0123456789abcdef0123456789abcdef";

    fn tokens(full: &str, read_only: Option<&str>) -> Tokens {
        Tokens::new(Token::try_new(full).unwrap(), read_only.map(|text| Token::try_new(text).unwrap()))
    }

    #[test]
    fn a_token_is_visible_ascii() {
        for text in ["", " ", "a b", "a\n", "ü", "a\0"] {
            assert!(Token::try_new(text).is_none(), "{text:?}");
        }
        assert!(Token::try_new("!~aZ9_-").is_some());
    }

    #[test]
    fn each_token_has_its_access_and_nothing_else_has_any() {
        let tokens = tokens("write", Some("read"));
        for (given, access) in [
            ("write", Some(Access::Full)),
            ("read", Some(Access::ReadOnly)),
            ("", None),
            ("writ", None),
            ("write ", None),
            ("WRITE", None),
            ("writeread", None),
        ] {
            assert_eq!(tokens.access(given.as_bytes()), access, "{given:?}");
        }
        assert_eq!(self::tokens("write", None).access(b""), None);
    }

    #[test]
    fn other_machines_need_a_strong_token() {
        for (full, read_only, strong) in [
            (STRONG, None, true),
            (STRONG, Some(STRONG), true),
            (&STRONG[1..], None, false),
            (STRONG, Some("read"), false),
            ("abababababababababababababababab", None, false),
        ] {
            let tokens = tokens(full, read_only);
            for address in ["0.0.0.0", "::", "192.168.0.1", "::ffff:10.0.0.1"] {
                assert_eq!(tokens.suit(address.parse().unwrap()), strong, "{full} on {address}");
            }
            for address in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
                assert!(tokens.suit(address.parse().unwrap()), "{full} on {address}");
            }
        }
    }

    #[test]
    fn a_token_is_not_shown() {
        assert!(!format!("{:?}", tokens("secret", Some("secret"))).contains("secret"));
    }
}
