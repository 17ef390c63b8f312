//! Who is signed in: an organization, in a cookie that only this server can have written.

use axum::{
    extract::{FromRequestParts, OptionalFromRequestParts},
    http::{HeaderMap, request::Parts},
};
use axum_extra::extract::{
    SignedCookieJar,
    cookie::{Cookie, Key, SameSite},
};
use std::convert::Infallible;
use tollgate_guard::Timestamp;
use tollgate_http::Rejection;

use crate::{App, Name, problem};

/// A signed-in organization.
///
/// The cookie holds its name and when the session ends, signed with the server's key: a client can neither choose nor extend one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    org: Name,
    ends_at: Timestamp,
}

const COOKIE: &str = "tollgate-demo-session";

/// How long a session lasts: twelve hours.
const LIFETIME_MS: u64 = 12 * 60 * 60 * 1_000;

impl Session {
    /// A session of `org` that begins now.
    #[must_use]
    pub(crate) const fn new(org: Name, now: Timestamp) -> Self {
        Self { org, ends_at: now.saturating_add_ms(LIFETIME_MS) }
    }

    /// The organization.
    #[must_use]
    pub(crate) const fn org(&self) -> &Name {
        &self.org
    }

    /// When it ends.
    #[must_use]
    pub(crate) const fn ends_at(&self) -> Timestamp {
        self.ends_at
    }

    /// Puts the session into the client's cookies.
    pub(crate) fn begin(&self, jar: SignedCookieJar) -> SignedCookieJar {
        jar.add(cookie(format!("{}.{}", self.ends_at.unix_ms(), self.org.as_str())))
    }

    /// Takes any session out of them.
    pub(crate) fn end(jar: SignedCookieJar) -> SignedCookieJar {
        jar.remove(cookie(String::new()))
    }

    /// The session that these headers carry, if it is ours and has not ended.
    fn read(headers: &HeaderMap, key: &Key, now: Timestamp) -> Option<Self> {
        let cookie = SignedCookieJar::from_headers(headers, key.clone()).get(COOKIE)?;
        let (ends_at, org) = cookie.value().split_once('.')?;
        let ends_at = Timestamp::from_unix_ms(ends_at.parse().ok()?);
        let org = Name::try_from(org.to_owned()).ok()?;
        (now < ends_at).then_some(Self { org, ends_at })
    }
}

/// Not `Secure`: this server speaks plain HTTP on the loopback interface, and some clients would not send such a cookie back.
fn cookie(value: String) -> Cookie<'static> {
    Cookie::build((COOKIE, value)).http_only(true).same_site(SameSite::Strict).path("/").build()
}

impl FromRequestParts<App> for Session {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Rejection> {
        Self::read(&parts.headers, app.session_key(), app.guard().now()).ok_or_else(problem::unauthorized)
    }
}

impl OptionalFromRequestParts<App> for Session {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>, Infallible> {
        Ok(Self::read(&parts.headers, app.session_key(), app.guard().now()))
    }
}
