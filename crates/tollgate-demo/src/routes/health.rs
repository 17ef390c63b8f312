//! `GET /healthz`: the process serves. It asks no store: a server that answers is not to be restarted over an outage.

use axum::Json;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Health {
    status: &'static str,
}

pub(super) async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}
