//! A real router: what its handlers are given, and how they end a delivery.

use axum::{Json, Router, body::Body, extract::Path, routing::post};
use http::{Request, StatusCode};
use serde_json::Value;
use tollgate_http::{Ending, Received, Rejection};
use tollgate_webhook::OnClaimOutage;
use tower::ServiceExt as _;

use crate::rig::{BODY, Rig, Stand};

async fn on_push(
    Path(act): Path<String>,
    received: Received,
    Json(push): Json<Value>,
) -> Result<(Ending, StatusCode), Rejection> {
    assert_eq!((received.event(), &push["ref"]), (Some("push"), &Value::from("refs/heads/main")));
    match &*act {
        "later" => Ok((Ending::Release, StatusCode::ACCEPTED)),
        "refuse" => Err(Rejection::problem(StatusCode::TOO_MANY_REQUESTS, "fifteen a day")),
        _ => Ok((Ending::Confirm, StatusCode::NO_CONTENT)),
    }
}

fn app(rig: &Rig) -> Router {
    Router::new().route("/webhooks/{act}", post(on_push)).layer(rig.layer())
}

async fn send(rig: &Rig, app: &Router, act: &str) -> u16 {
    let mut request =
        rig.head("1", act).header("content-type", "application/json").body(Body::from(BODY)).unwrap();
    *request.uri_mut() = format!("/webhooks/{act}").parse().unwrap();
    app.clone().oneshot(request).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_handler_says_how_a_delivery_ends() {
    let stand = Stand::memory();
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let app = app(&rig);
    for (act, status, keys) in [("later", 202, 0), ("refuse", 429, 0), ("done", 204, 1), ("done", 200, 1)] {
        assert_eq!((send(&rig, &app, act).await, stand.keys()), (status, keys), "{act}");
    }
}

#[tokio::test]
async fn a_handler_without_the_layer_is_a_fault_of_the_program() {
    let app: Router = Router::new().route("/webhooks/{act}", post(on_push));
    let request = Request::post("/webhooks/done").body(Body::from(BODY)).unwrap();
    assert_eq!(app.oneshot(request).await.unwrap().status(), 500);
}
