//! An answer to a request that is not even checked.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use crate::{PROBLEM_JSON, Refused, problem};

/// An answer to a request whose charges cannot be told: a ready response.
///
/// Any [`http::Response`] with a body of bytes is one, and so is a [`Refused`]; [`Rejection::problem`] makes one with a problem
/// body.
///
/// ```
/// use http::StatusCode;
/// use tollgate_http::Rejection;
///
/// let rejection = Rejection::problem(StatusCode::UNAUTHORIZED, "sign in first");
/// assert_eq!(rejection.status(), 401);
/// let response: http::Response<Vec<u8>> = rejection.into_response();
/// assert_eq!(response.into_body(), br#"{"title":"Unauthorized","status":401,"detail":"sign in first"}"#);
/// ```
#[must_use = "a rejection is an answer to send"]
pub struct Rejection(Box<Response<Bytes>>);

impl Rejection {
    /// A problem that this status names, explained by `detail`: tell the client no more than it may know.
    pub fn problem(status: StatusCode, detail: impl fmt::Display) -> Self {
        let mut response = Response::new(problem::plain(status, detail));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Self(Box::new(response))
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// Its headers, to add to.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        self.0.headers_mut()
    }

    /// The answer, whole.
    pub fn into_response<B: From<Bytes>>(self) -> Response<B> {
        (*self.0).map(B::from)
    }
}

impl<B: Into<Bytes>> From<Response<B>> for Rejection {
    fn from(response: Response<B>) -> Self {
        Self(Box::new(response.map(Into::into)))
    }
}

impl From<Refused> for Rejection {
    fn from(refused: Refused) -> Self {
        Self(Box::new(refused.into_response()))
    }
}

/// A request without a visitor: 500 where the server is set up wrongly, 403 from a peer that the source rejects, else 400. The
/// text says what to do and never holds an address.
#[cfg(feature = "visitor")]
impl From<tollgate_visitor::VisitorError> for Rejection {
    fn from(error: tollgate_visitor::VisitorError) -> Self {
        let status = match error {
            tollgate_visitor::VisitorError::UntrustedPeer => StatusCode::FORBIDDEN,
            error if error.is_setup_fault() => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::problem(status, error)
    }
}

/// Without the body, which may be long.
impl fmt::Debug for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejection").field("status", &self.status()).finish_non_exhaustive()
    }
}
