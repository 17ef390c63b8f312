//! `POST /webhooks/github`: a push to the default branch leaves an update of the pages it names to a worker.

use std::{error::Error, net::SocketAddr, time::Duration};

use axum::{
    Json,
    body::Bytes,
    extract::{ConnectInfo, DefaultBodyLimit, State, connect_info::MockConnectInfo},
    http::{Extensions, StatusCode},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, post},
};
use serde_json::json;
use tollgate_guard::Charges;
use tollgate_http::{Caller, Received, Rejection, WebhookLayer};
use tower_http::timeout::TimeoutLayer;

use crate::{App, jobs::Job, policies::WEBHOOK_FORGERY, push::Push};

/// The route: everything before the work is the layer's.
pub(super) fn github(app: &App) -> MethodRouter<App> {
    let Some(secrets) = app.webhook_secrets() else { return post(no_secret) };
    let source = app.visitor_source();
    let layer = WebhookLayer::github(secrets.clone(), app.deliveries().clone())
        .source_limit(app.shared_guard(), move |head| {
            let Caller(visitor) = Caller::of(head, &source)?;
            Ok(Charges::from(WEBHOOK_FORGERY.charge(&visitor)))
        })
        .events(|arrival| {
            // What is no push to a default branch is nobody's to work on. What cannot be read is told so by the handler.
            arrival.event == Some("push")
                && serde_json::from_slice(arrival.body).map_or(true, |push: Push| push.is_to_default_branch())
        });
    // How long a body may be is the layer's business, how long it may take is not. A claim that is cut off is released.
    let timeout = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, LONGEST);
    post(push).route_layer(DefaultBodyLimit::disable()).route_layer(layer).route_layer(timeout)
}

/// How long a delivery may take to arrive and be queued: three times what GitHub waits for an answer.
const LONGEST: Duration = Duration::from_secs(30);

async fn push(State(app): State<App>, received: Received, body: Bytes) -> Result<Response, Rejection> {
    let push: Push = serde_json::from_slice(&body).map_err(|error| {
        let detail = format!("this is no push in JSON: {error}; choose the content type application/json");
        Rejection::problem(StatusCode::UNPROCESSABLE_ENTITY, detail)
    })?;
    let pages = push.pages();
    if pages.is_empty() {
        return Ok(Json(json!({ "delivery": "nothing to do" })).into_response());
    }
    // Before the push: if the sender hangs up in the middle of it, the job may be in the queue already.
    let job = Job { ticket: received.hand_over(), org: push.into_org(), pages };
    if let Err(error) = app.jobs().push(&job).await {
        received.take_back();
        tracing::error!(error = &error as &dyn Error, "a push could not be left to a worker");
        let detail = "the update could not be queued: deliver it again later";
        return Err(Rejection::problem(StatusCode::SERVICE_UNAVAILABLE, detail));
    }
    let said = json!({ "delivery": "queued", "pages": job.pages });
    // The worker confirms or releases: until then it is in progress.
    Ok((StatusCode::ACCEPTED, Json(said)).into_response())
}

async fn no_secret() -> Rejection {
    let detail = "no delivery can be told to be genuine here: set GITHUB_WEBHOOK_SECRET as at GitHub";
    Rejection::problem(StatusCode::SERVICE_UNAVAILABLE, detail)
}

/// A request that this server sends to itself comes from the peer of the one that made it.
pub(super) fn same_peer(from: &Extensions, to: &mut Extensions) {
    if let Some(peer) = from.get::<ConnectInfo<SocketAddr>>() {
        to.insert(*peer);
    }
    if let Some(peer) = from.get::<MockConnectInfo<SocketAddr>>() {
        to.insert(*peer);
    }
}
