//! Answers to requests that went wrong for another reason than a limit.

use axum::{
    extract::rejection::JsonRejection,
    http::{HeaderValue, StatusCode, header},
};
use tollgate_http::Rejection;

/// A fault of the server. Its cause belongs in the log, not in the answer.
pub(crate) fn internal() -> Rejection {
    let detail = "the server failed; the header `x-request-id` names the request in its log";
    Rejection::problem(StatusCode::INTERNAL_SERVER_ERROR, detail)
}

/// Nobody is signed in.
pub(crate) fn unauthorized() -> Rejection {
    let detail = r#"sign in first: POST /api/session {"org": "acme"}"#;
    let mut rejection = Rejection::problem(StatusCode::UNAUTHORIZED, detail);
    // RFC 9110 wants a challenge with every 401; a session in a cookie has no registered scheme.
    let challenge = HeaderValue::from_static("Session realm=\"tollgate-demo\"");
    rejection.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    rejection
}

/// A body that is no JSON, or not what the route takes.
pub(crate) fn bad_body(rejection: &JsonRejection) -> Rejection {
    Rejection::problem(rejection.status(), rejection.body_text())
}
