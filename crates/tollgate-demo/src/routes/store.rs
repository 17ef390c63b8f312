//! `/api/store`: whether the store is on, and the switch that makes it fail.

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use tollgate_http::Rejection;

use crate::{App, Body};

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
    Body(wanted): Body<Wanted>,
) -> Result<Json<StoreState>, Rejection> {
    if !app.has_fault_switch() {
        return Err(Rejection::problem(
            StatusCode::FORBIDDEN,
            "this server does not let its store be switched off",
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
