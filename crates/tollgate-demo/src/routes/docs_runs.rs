//! `POST /api/docs-runs`: reads all pages again and stages the index of them. For organizations.

use axum::{Json, extract::State};
use tollgate_http::{Passed, Rejection};

use crate::{App, Session, Site, Summary, policies::DOCS_RUN};

pub(super) async fn run(
    State(app): State<App>,
    session: Session,
) -> Result<(Passed, Json<Summary>), Rejection> {
    let passed = app.admit(&[DOCS_RUN.charge(session.org())]).await?;
    let staged = app.work(Site::rebuild).await?;
    Ok((passed, Json(staged)))
}
