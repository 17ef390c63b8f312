//! `/api/store`: whether the store is on, and the switch that makes it fail.

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use tollgate_http::Rejection;

use crate::{App, Body, visiting::Visiting};

#[derive(Debug, Serialize)]
pub(super) struct StoreState {
    kind: String,
    up: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    up: bool,
}

pub(super) async fn state(State(app): State<App>) -> Json<StoreState> {
    Json(StoreState::of(&app))
}

pub(super) async fn switch(
    State(app): State<App>,
    visiting: Visiting,
    Body(wanted): Body<Wanted>,
) -> Result<Json<StoreState>, Rejection> {
    if !visiting.is_developer() {
        return Err(Rejection::problem(
            StatusCode::FORBIDDEN,
            "the store is switched off at the server's own machine, where that is allowed",
        ));
    }
    app.switch().set(wanted.up);
    Ok(Json(StoreState::of(&app)))
}

impl StoreState {
    fn of(app: &App) -> Self {
        Self { kind: app.store_kind().to_string(), up: app.switch().is_on() }
    }
}
