//! `POST /api/ask`: passages that answer a question. Public, and charged to four limits at once.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use tollgate_http::{Caller, Passed, Rejection};

use crate::{App, Body, Found, Name, Question, policies};

#[derive(Debug, Deserialize)]
pub(super) struct Ask {
    project: Name,
    question: Question,
}

#[derive(Debug, Serialize)]
pub(super) struct Passages {
    passages: Vec<Found>,
}

pub(super) async fn ask(
    State(app): State<App>,
    Caller(visitor): Caller,
    Body(ask): Body<Ask>,
) -> Result<(Passed, Json<Passages>), Rejection> {
    let passed = app.admit(&policies::ask(ask.project.as_str(), &visitor)).await?;
    let passages = app.site().find(ask.question.as_str());
    Ok((passed, Json(Passages { passages })))
}
