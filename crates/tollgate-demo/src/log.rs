//! A line in the log for each answer: method, route, status, time, and never an address, a query or a body.

use std::time::Duration;

use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request},
    http::{HeaderValue, Response},
    middleware,
};
use tower_http::{
    request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer},
    trace::TraceLayer,
};
use tracing::Span;

use crate::App;

const REQUEST_ID: &str = "x-request-id";

/// The longest request id that is taken from a client.
const LONGEST_ID: usize = 64;

/// The same routes, which write that line, and whose answers name their request.
pub(crate) fn logged(routes: Router<App>) -> Router<App> {
    let lines = TraceLayer::new_for_http()
        .make_span_with(span)
        .on_request(())
        .on_response(answered)
        .on_body_chunk(())
        .on_eos(())
        // A 503 during an outage is an answer like any other: the guard has logged the outage, once.
        .on_failure(());
    routes
        .layer(lines)
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(middleware::map_request(keep_only_plain_request_id))
}

fn span(request: &Request<Body>) -> Span {
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    // The route's pattern and not the path, which may hold anything.
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str);
    tracing::info_span!("request", id, method = %request.method(), route)
}

fn answered(response: &Response<Body>, after: Duration, _span: &Span) {
    let (status, took_us) = (response.status().as_u16(), after.as_micros());
    tracing::info!(status, took_us, "answered");
}

/// Drops a request id that is long or odd, so that nobody writes into the log; one of a proxy is kept.
async fn keep_only_plain_request_id(mut request: Request) -> Request {
    let is_plain = |id: &HeaderValue| {
        let is_plain_byte = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(is_plain_byte)
    };
    let is_kept = request.headers().get(REQUEST_ID).is_some_and(is_plain);
    if !is_kept {
        request.headers_mut().remove(REQUEST_ID);
    }
    request
}
