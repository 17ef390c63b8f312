//! `POST /api/chat`: the playground. Public: a sliding limit for each visitor, and one budget a day for everybody.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use tollgate_http::{Caller, Passed, Rejection};

use crate::{App, Body, Question, policies::PLAYGROUND_MINUTE};

#[derive(Debug, Deserialize)]
pub(super) struct Chat {
    message: Question,
}

#[derive(Debug, Serialize)]
pub(super) struct Reply {
    reply: String,
    /// The page the reply is from; none if no page speaks of it.
    page: Option<String>,
}

pub(super) async fn chat(
    State(app): State<App>,
    Caller(visitor): Caller,
    Body(chat): Body<Chat>,
) -> Result<(Passed, Json<Reply>), Rejection> {
    let charges = [PLAYGROUND_MINUTE.charge(&visitor), app.playground_day().charge(())];
    let passed = app.admit(&charges).await?;
    let best = app.site().find(chat.message.as_str()).into_iter().next();
    let reply = match best {
        Some(found) => Reply { reply: found.text, page: Some(found.page) },
        None => Reply { reply: "No page of this site speaks of that.".to_owned(), page: None },
    };
    Ok((passed, Json(reply)))
}
