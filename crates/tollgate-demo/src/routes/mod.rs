//! The routes, a file each, and what wraps them all.

mod account;
mod answers;
mod ask;
mod chat;
mod docs_runs;
mod health;
mod limits;
mod live;
mod lookups;
mod offers;
mod page_retries;
mod publishes;
mod store;
mod visitor;
mod webhook_replays;
mod webhooks;
mod webpage;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::Response,
    routing::{get, post},
};
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};

use tollgate_http::Rejection;

use crate::{App, LONGEST_BODY, log, problem};

pub(crate) use answers::failed as model_failed;

/// All routes of the site.
///
/// Serve it with `into_make_service_with_connect_info::<SocketAddr>()`: a visitor is known by the address of its connection.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/", get(webpage::page))
        .route("/page/{file}", get(webpage::file))
        .route("/healthz", get(health::health))
        .route("/api/ask", post(ask::ask))
        .route("/api/chat", post(chat::chat))
        .route("/api/session", post(account::sign_in).delete(account::sign_out).get(account::session))
        .route("/api/lookups", post(lookups::look_up))
        .route("/api/docs-runs", post(docs_runs::run))
        .route("/api/page-retries", post(page_retries::retry))
        .route("/api/publishes", post(publishes::publish))
        .route("/api/limits", get(limits::limits))
        .route("/api/live", get(live::live))
        .route("/api/visitor", get(visitor::seen).put(visitor::act))
        .route("/webhooks/github", webhooks::github(&app))
        .route("/api/webhook-replays", post(webhook_replays::replay))
        .route("/api/store", get(store::state).put(store::switch))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(app.clone(), observed))
        .layer(CatchPanicLayer::custom(panicked));
    log::logged(routes)
        // What is counted, and for whom, belongs in no cache.
        .layer(header(header::CACHE_CONTROL, "no-store"))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "no-referrer"))
        .with_state(app)
}

/// Tells those who watch that something may have changed: a check was counted, or a request was one that changes things.
async fn observed(State(app): State<App>, request: Request, next: Next) -> Response {
    let changes = !request.method().is_safe();
    let response = next.run(request).await;
    if app.note_activity() || changes {
        app.live().tell();
    }
    response
}

fn header(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

async fn not_found() -> Rejection {
    Rejection::problem(StatusCode::NOT_FOUND, "there is nothing at this path")
}

async fn method_not_allowed() -> Rejection {
    Rejection::problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "this path has other methods: the header `Allow` names them",
    )
}

fn panicked(_cause: Box<dyn std::any::Any + Send>) -> Response {
    problem::internal().into_response()
}
