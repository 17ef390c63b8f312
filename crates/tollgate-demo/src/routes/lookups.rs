//! `POST /api/lookups`: the pages of the repository as they are now. For organizations.

use axum::{Json, extract::State};
use serde::Serialize;
use tollgate_http::{Passed, Rejection};

use crate::{App, Listing, Session, Site, policies::GITHUB};

#[derive(Debug, Serialize)]
pub(super) struct Repository {
    repository: &'static str,
    pages: Vec<Listing>,
}

pub(super) async fn look_up(
    State(app): State<App>,
    session: Session,
) -> Result<(Passed, Json<Repository>), Rejection> {
    let passed = app.admit(&[GITHUB.charge(session.org())]).await?;
    let pages = app.work(Site::list).await?;
    Ok((passed, Json(Repository { repository: "tollgate", pages })))
}
