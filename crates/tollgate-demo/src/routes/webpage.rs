//! `GET /`: one page, its style and its script. It asks nothing of any other server.

use axum::{
    http::{HeaderName, header},
    response::IntoResponse,
};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn page() -> impl IntoResponse {
    let headers = [content_type("text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    (headers, include_str!("../../web/page.html"))
}

pub(super) async fn style() -> impl IntoResponse {
    ([content_type("text/css; charset=utf-8")], include_str!("../../web/page.css"))
}

pub(super) async fn script() -> impl IntoResponse {
    ([content_type("text/javascript; charset=utf-8")], include_str!("../../web/page.js"))
}

const fn content_type(value: &'static str) -> (HeaderName, &'static str) {
    (header::CONTENT_TYPE, value)
}
