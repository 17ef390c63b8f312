//! Which database, and the right to use it.

use std::fmt;

use crate::{
    CredentialsError, EnvError,
    base_url::{self, BaseUrl},
    token::Token,
};

/// The REST URL of a database and a token for it.
///
/// Blanks and line breaks round a value, one pair of quotes round it, and slashes at the end of the URL are taken off: that is
/// how values arrive from dashboards and `.env` files. Anything else that is wrong is refused and named. The token is never shown.
///
/// ```
/// use tollgate_upstash::Credentials;
///
/// let credentials = Credentials::new("https://eu1-fond-1.upstash.io/", " \"AXd4…\"\n".replace('…', "g").as_str())?;
/// assert_eq!(credentials.url(), "https://eu1-fond-1.upstash.io");
/// assert!(!format!("{credentials:?}").contains("AXd4"));
/// # Ok::<(), tollgate_upstash::CredentialsError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Credentials {
    url: BaseUrl,
    token: Token,
}

/// The pairs of variables that are looked at, in this order.
const PAIRS: [(&str, &str); 2] =
    [("KV_REST_API_URL", "KV_REST_API_TOKEN"), ("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN")];

impl Credentials {
    /// Checks a URL and a token.
    ///
    /// `http://` is for hosts that are not on the public Internet: loopback and private addresses, names without a dot, and
    /// names that end in `.localhost`, `.local`, `.internal` or `.home.arpa`.
    ///
    /// # Errors
    /// If either could not be used, or the two are swapped. No value is in the error.
    pub fn new(url: &str, token: &str) -> Result<Self, CredentialsError> {
        let (url, token) = (unwrap(url), unwrap(token));
        if token.contains("://") {
            return Err(if url.contains("://") {
                CredentialsError::UrlInToken
            } else {
                CredentialsError::Swap
            });
        }
        check_url(url)?;
        check_token(token)?;
        let url = base_url::parse(url)?;
        if token.len() >= SHORTEST_SECRET && url.text.contains(token) {
            return Err(CredentialsError::TokenInUrl);
        }
        Ok(Self { url, token: Token::new(token).ok_or(CredentialsError::BlankInToken)? })
    }

    /// Looks for credentials in variables: `KV_REST_API_URL` and `KV_REST_API_TOKEN`, else `UPSTASH_REDIS_REST_URL` and
    /// `UPSTASH_REDIS_REST_TOKEN`.
    ///
    /// Only a complete pair counts: with one half missing or empty the other is not looked at, and halves of two pairs are
    /// never put together. `env` is any lookup, so that a test needs no environment and a program may keep its own.
    ///
    /// ```
    /// use tollgate_upstash::Credentials;
    ///
    /// let env = |name: &str| std::env::var(name).ok();
    /// match Credentials::from_env(env)? {
    ///     Some(credentials) => println!("counting at {}", credentials.url()),
    ///     None => println!("counting on this machine alone"),
    /// }
    /// # Ok::<(), tollgate_upstash::EnvError>(())
    /// ```
    ///
    /// # Errors
    /// If the first complete pair could not be used: a pair that is wrong is never passed over for the next.
    pub fn from_env(env: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, EnvError> {
        let set = |name| env(name).filter(|value| !unwrap(value).is_empty());
        for (url_name, token_name) in PAIRS {
            if let (Some(url), Some(token)) = (set(url_name), set(token_name)) {
                return Self::new(&url, &token).map(Some).map_err(|problem| {
                    EnvError::new(if problem.is_about_token() { token_name } else { url_name }, problem)
                });
            }
        }
        Ok(None)
    }

    /// The base URL, without a slash at its end. There is no secret in it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url.text
    }

    pub(crate) const fn base(&self) -> &BaseUrl {
        &self.url
    }

    pub(crate) const fn token(&self) -> &Token {
        &self.token
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("url", &self.url.text).field("token", &self.token).finish()
    }
}

/// A token that is shorter may well be a word of the URL: `local` at `http://localhost:8079`.
const SHORTEST_SECRET: usize = 16;

/// The value without what surrounds it by accident.
fn unwrap(value: &str) -> &str {
    let value = value.trim();
    let quoted = ['"', '\'', '`'].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    quoted.unwrap_or(value).trim()
}

fn is_stray(character: char) -> bool {
    character.is_whitespace() || character.is_control() || matches!(character, '"' | '\'' | '`')
}

fn check_url(url: &str) -> Result<(), CredentialsError> {
    if url.is_empty() {
        Err(CredentialsError::EmptyUrl)
    } else if url.contains(is_stray) {
        Err(CredentialsError::BlankInUrl)
    } else {
        Ok(())
    }
}

fn check_token(token: &str) -> Result<(), CredentialsError> {
    let first = token.split(char::is_whitespace).next().unwrap_or_default();
    if token.is_empty() {
        Err(CredentialsError::EmptyToken)
    } else if first.eq_ignore_ascii_case("bearer") {
        Err(CredentialsError::Bearer)
    } else if token.contains(is_stray) || !token.is_ascii() {
        Err(CredentialsError::BlankInToken)
    } else {
        Ok(())
    }
}
