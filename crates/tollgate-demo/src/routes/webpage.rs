//! `GET /`: one page, its style and its scripts. It asks nothing of any other server.

use axum::{
    extract::Path,
    http::{HeaderName, StatusCode, header},
    response::IntoResponse,
};
use tollgate_http::Rejection;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($name:literal $kind:ident)*) => {
        &[$(($name, $kind, include_str!(concat!("../../web/", $name)))),*]
    };
}

/// What the page is made of: a name, a kind and a text each.
const FILES: &[(&str, &str, &str)] = files! {
    "page.css" STYLE
    "theme.js" SCRIPT
    "page.js" SCRIPT
    "actions.js" SCRIPT
    "answer.js" SCRIPT
    "chart.js" SCRIPT
    "dom.js" SCRIPT
    "events.js" SCRIPT
    "explain.js" SCRIPT
    "identity.js" SCRIPT
    "limits.js" SCRIPT
    "live.js" SCRIPT
    "time.js" SCRIPT
    "waits.js" SCRIPT
};

pub(super) async fn page() -> impl IntoResponse {
    let headers = [content_type("text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    (headers, include_str!("../../web/page.html"))
}

pub(super) async fn file(Path(name): Path<String>) -> Result<impl IntoResponse, Rejection> {
    let file = FILES.iter().find(|(known, ..)| *known == name);
    let (_, kind, text) =
        file.ok_or_else(|| Rejection::problem(StatusCode::NOT_FOUND, "the page has no such part"))?;
    Ok(([content_type(kind)], *text))
}

const fn content_type(value: &'static str) -> (HeaderName, &'static str) {
    (header::CONTENT_TYPE, value)
}
