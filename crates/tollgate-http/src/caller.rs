//! The visitor behind a request, as an argument of a handler.

use std::{error::Error, fmt, net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, FromRef, FromRequestParts, connect_info::MockConnectInfo},
    response::{IntoResponse, Response},
};
use http::request::Parts;
use tollgate_visitor::{Visitor, VisitorError, VisitorSource};

use crate::Rejection;

/// The visitor behind a request.
///
/// As an extractor it needs an `Arc<VisitorSource>` in the router's state, and the peer's address: serve through
/// `into_make_service_with_connect_info::<SocketAddr>()`. Outside of handlers, [`Caller::of`] does the same.
///
/// ```
/// use std::sync::Arc;
/// use axum::{Router, routing::get};
/// use tollgate_http::Caller;
/// use tollgate_visitor::VisitorSource;
///
/// async fn ask(Caller(visitor): Caller) -> &'static str {
///     if visitor.is_local() { "a developer" } else { "a visitor" }
/// }
///
/// let source = Arc::new(VisitorSource::peer().build()?);
/// let app: Router = Router::new().route("/ask", get(ask)).with_state(source);
/// # Ok::<(), tollgate_visitor::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Caller(pub Visitor);

impl Caller {
    /// The visitor behind the request with this head: for the charges of a [`GuardLayer`](crate::GuardLayer).
    ///
    /// # Errors
    /// Only if the request has no visitor by the source's rules.
    pub fn of(head: &Parts, source: &VisitorSource) -> Result<Self, NoCaller> {
        let extensions = &head.extensions;
        let peer = match extensions.get::<ConnectInfo<SocketAddr>>() {
            Some(ConnectInfo(peer)) => Some(peer),
            None => extensions.get::<MockConnectInfo<SocketAddr>>().map(|MockConnectInfo(peer)| peer),
        };
        source.identify(&head.headers, peer.map(SocketAddr::ip)).map(Self).map_err(NoCaller)
    }
}

impl<S> FromRequestParts<S> for Caller
where
    S: Send + Sync,
    Arc<VisitorSource>: FromRef<S>,
{
    type Rejection = NoCaller;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, NoCaller> {
        Self::of(head, &Arc::from_ref(state))
    }
}

/// A request without a visitor: answered with 500 where the server is set up wrongly, with 403 from a peer that the source rejects,
/// else with 400.
///
/// Its text says what to do about it and never holds an address or what a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCaller(VisitorError);

impl NoCaller {
    /// Why the request has no visitor.
    #[must_use]
    pub const fn reason(&self) -> VisitorError {
        self.0
    }
}

impl fmt::Display for NoCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for NoCaller {}

impl From<NoCaller> for Rejection {
    fn from(error: NoCaller) -> Self {
        error.0.into()
    }
}

impl IntoResponse for NoCaller {
    fn into_response(self) -> Response {
        Rejection::from(self).into_response()
    }
}
