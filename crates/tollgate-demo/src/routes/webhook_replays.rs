//! `POST /api/webhook-replays`: the server signs one push and delivers it to itself twice, to show what becomes of the second.

use axum::{
    Json, Router,
    body::Body,
    extract::{FromRequest as _, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tollgate_http::Rejection;
use tollgate_webhook::{GITHUB_DELIVERY, GITHUB_EVENT, GITHUB_HOOK, GITHUB_SIGNATURE, GithubSecrets};
use tower::ServiceExt as _;

use super::{limits::OWN_PROJECT, webhooks};
use crate::{App, LONGEST_BODY, Session, problem, visiting::Visiting};

/// There is nothing to choose.
#[derive(Debug, Deserialize)]
struct Nothing {}

#[derive(Debug, Serialize)]
pub(super) struct Replayed {
    first: Told,
    second: Told,
}

/// What one delivery was answered with.
#[derive(Debug, Serialize)]
struct Told {
    status: u16,
    body: Value,
}

/// The page that the push names.
const PAGE: &str = "site/overview.md";

const PATH: &str = "/webhooks/github";

pub(super) async fn replay(
    State(app): State<App>,
    visiting: Visiting,
    session: Option<Session>,
    request: Request,
) -> Result<Json<Replayed>, Rejection> {
    let (head, body) = request.into_parts();
    let Json(Nothing {}) = Json::from_request(Request::from_parts(head.clone(), body), &app)
        .await
        .map_err(|error| problem::bad_body(&error))?;
    let Some(secrets) = app.webhook_secrets().filter(|_| visiting.is_developer()) else {
        let detail = "webhooks are replayed at the server's own machine, where that is allowed";
        return Err(Rejection::problem(StatusCode::FORBIDDEN, detail));
    };
    let org = session.as_ref().map_or(OWN_PROJECT, |session| session.org().as_str());
    let payload = json!({
        "ref": "refs/heads/main",
        "repository": { "default_branch": "main", "owner": { "login": org } },
        "commits": [{ "added": [], "modified": [PAGE], "removed": [] }],
    });
    let push = Signed::new(payload.to_string(), secrets, &head.headers)?;
    let first = push.deliver(&app, &head).await?;
    let second = push.deliver(&app, &head).await?;
    Ok(Json(Replayed { first, second }))
}

/// A delivery that can be sent any number of times.
struct Signed {
    headers: HeaderMap,
    body: String,
}

impl Signed {
    /// From whoever asked for it: the source of a request is found in its headers.
    fn new(body: String, secrets: &GithubSecrets, from: &HeaderMap) -> Result<Self, Rejection> {
        let mut headers = from.clone();
        for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::COOKIE] {
            headers.remove(name);
        }
        let id = format!("replay-{:032x}", fastrand::u128(..));
        for (name, value) in [
            (header::CONTENT_TYPE.as_str(), "application/json"),
            (GITHUB_EVENT, "push"),
            (GITHUB_HOOK, "replays"),
            (GITHUB_DELIVERY, &id),
            (GITHUB_SIGNATURE, &secrets.sign(body.as_bytes())),
        ] {
            // Plain names and values: there is nothing that a header could not hold.
            let value = HeaderValue::from_str(value).map_err(|_| problem::internal())?;
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(Self { headers, body })
    }

    /// To the route itself, as if it had come over the network.
    async fn deliver(&self, app: &App, from: &Parts) -> Result<Told, Rejection> {
        let mut request =
            Request::post(PATH).body(Body::from(self.body.clone())).map_err(|_| problem::internal())?;
        *request.headers_mut() = self.headers.clone();
        webhooks::same_peer(&from.extensions, request.extensions_mut());
        let route: Router = Router::new().route(PATH, webhooks::github(app)).with_state(app.clone());
        let Ok(response) = route.oneshot(request).await;
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), LONGEST_BODY).await;
        let bytes = bytes.map_err(|_| problem::internal())?;
        Ok(Told { status, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) })
    }
}
