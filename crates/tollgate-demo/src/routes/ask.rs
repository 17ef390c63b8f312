//! `POST /api/ask`: passages that answer a question. Public, and charged to four limits and a budget of tokens at once.

use axum::{extract::State, http::HeaderMap, response::Response};
use serde::{Deserialize, Serialize};
use tollgate_http::{Passed, Rejection};

use super::answers;
use crate::{App, Body, Found, Name, Question, Visiting, answer::Usage, policies};

#[derive(Debug, Deserialize)]
pub(super) struct Ask {
    project: Name,
    question: Question,
}

#[derive(Debug, Serialize)]
struct Passages {
    passages: Vec<Found>,
    /// What a model made of them, and what it used for it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    worded: Option<Worded>,
}

#[derive(Debug, Serialize)]
struct Worded {
    answer: String,
    usage: Usage,
}

pub(super) async fn ask(
    State(app): State<App>,
    visiting: Visiting,
    headers: HeaderMap,
    Body(ask): Body<Ask>,
) -> Result<(Passed, Response), Rejection> {
    let charges = policies::ask(ask.project.as_str(), visiting.visitor(), app.tokens());
    let (passed, reservation) = app.reserve(&charges).await?;
    let found = app.site().find(ask.question.as_str());
    let answer = app.answer(&ask.question, found, reservation).await?;
    let is_worded = app.model().is_some();
    let response = answers::respond(&headers, answer, |collected| Passages {
        passages: collected.sources,
        worded: is_worded.then_some(Worded { answer: collected.text, usage: collected.usage }),
    });
    Ok((passed, response.await?))
}
