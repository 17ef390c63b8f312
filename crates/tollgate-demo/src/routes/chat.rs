//! `POST /api/chat`: the playground. Public: a sliding limit for each visitor, and two budgets a day for everybody,
//! of messages and of tokens.

use axum::{extract::State, http::HeaderMap, response::Response};
use serde::{Deserialize, Serialize};
use tollgate_http::{Passed, Rejection};

use super::answers;
use crate::{App, Body, Question, Visiting, answer::Usage, policies};

#[derive(Debug, Deserialize)]
pub(super) struct Chat {
    message: Question,
}

#[derive(Debug, Serialize)]
struct Reply {
    reply: String,
    /// The page the reply is from; none if no page speaks of it.
    page: Option<String>,
    usage: Usage,
}

pub(super) async fn chat(
    State(app): State<App>,
    visiting: Visiting,
    headers: HeaderMap,
    Body(chat): Body<Chat>,
) -> Result<(Passed, Response), Rejection> {
    let charges = policies::chat(visiting.visitor(), app.playground_day(), app.tokens());
    let (passed, reservation) = app.reserve(&charges).await?;
    let mut best = app.site().find(chat.message.as_str());
    best.truncate(1);
    let answer = app.answer(&chat.message, best, reservation).await?;
    let response = answers::respond(&headers, answer, |collected| Reply {
        reply: collected.text,
        page: collected.sources.into_iter().next().map(|found| found.page),
        usage: collected.usage,
    });
    Ok((passed, response.await?))
}
