//! `POST /api/page-retries`: reads one page again and stages the index with it. For organizations.

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use tollgate_http::{Passed, Rejection};

use crate::{App, Body, Name, Session, Summary, policies::PAGE_RETRY};

#[derive(Debug, Deserialize)]
pub(super) struct Retry {
    page: Name,
}

pub(super) async fn retry(
    State(app): State<App>,
    session: Session,
    Body(retry): Body<Retry>,
) -> Result<(Passed, Json<Summary>), Rejection> {
    let name = retry.page.clone();
    // Asked before it is charged: a slip of the pen costs nothing.
    if !app.work(move |site| site.has(name.as_str())).await? {
        return Err(no_such_page());
    }
    let passed = app.admit(&[PAGE_RETRY.charge(session.org())]).await?;
    let staged = app.work(move |site| site.reindex(retry.page.as_str())).await?;
    Ok((passed, Json(staged.ok_or_else(no_such_page)?)))
}

fn no_such_page() -> Rejection {
    Rejection::problem(StatusCode::NOT_FOUND, "there is no such page: POST /api/lookups lists them")
}
