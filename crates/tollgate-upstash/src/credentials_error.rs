//! What can be wrong with credentials.

use std::{error::Error, fmt};

/// Why a URL and a token are no credentials. None of the values is in it: either may be the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CredentialsError {
    /// The URL stands where the token belongs, and the other way round.
    Swap,
    /// The URL is empty.
    EmptyUrl,
    /// There is a blank, a line break or a quote within the URL.
    BlankInUrl,
    /// The URL begins with neither `https://` nor `http://`.
    NoScheme,
    /// The URL is one of Redis' own protocol.
    RedisUrl,
    /// What follows the scheme is no host.
    NoUrl,
    /// The URL would send the token unencrypted through a public network.
    PublicHttp,
    /// The URL holds a token, a user or a password.
    TokenInUrl,
    /// The URL ends with a query or a fragment.
    Query,
    /// The token is empty.
    EmptyToken,
    /// There is a blank, a line break, a quote, or what is not ASCII within the token.
    BlankInToken,
    /// The token begins with the word `Bearer`.
    Bearer,
    /// The token is a URL.
    UrlInToken,
}

impl CredentialsError {
    /// Whether it is the token that is wrong, not the URL.
    pub(crate) const fn is_about_token(self) -> bool {
        matches!(self, Self::EmptyToken | Self::BlankInToken | Self::Bearer | Self::UrlInToken)
    }
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Swap => "the URL and the token are swapped: exchange the two values",
            Self::EmptyUrl => "the URL is empty: copy the REST URL, which begins with https://",
            Self::BlankInUrl => "there is a blank, a line break or a quote within the URL: copy it again",
            Self::NoScheme => "the URL must begin with https:// (or http:// for a private host)",
            Self::RedisUrl => {
                "this is a redis:// URL: use the REST URL, which begins with https://, or a store on Redis' own protocol"
            }
            Self::NoUrl => "this is no URL: use one like https://name.upstash.io",
            Self::PublicHttp => {
                "http:// would send the token in clear through a public network: use https:// (http:// is for private hosts)"
            }
            Self::TokenInUrl => "the URL holds a token or a password: leave it out, the token is a value of its own",
            Self::Query => "the URL ends with a query or a fragment: leave out everything from the first ? or #",
            Self::EmptyToken => "the token is empty: copy the REST token",
            Self::BlankInToken => {
                "there is a blank, a line break, a quote or a letter that is not ASCII within the token: copy it again"
            }
            Self::Bearer => "the token begins with `Bearer`: leave the word out",
            Self::UrlInToken => "a URL stands where the token belongs: copy the REST token",
        })
    }
}

impl Error for CredentialsError {}

/// Variables that are set, and are no credentials. It names the variable and what to do, and no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnvError {
    variable: &'static str,
    problem: CredentialsError,
}

impl EnvError {
    pub(crate) const fn new(variable: &'static str, problem: CredentialsError) -> Self {
        Self { variable, problem }
    }

    /// The name of the variable to look at.
    #[must_use]
    pub const fn variable(&self) -> &'static str {
        self.variable
    }

    /// What is wrong with it.
    #[must_use]
    pub const fn problem(&self) -> CredentialsError {
        self.problem
    }
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variable, self.problem)
    }
}

impl Error for EnvError {}
