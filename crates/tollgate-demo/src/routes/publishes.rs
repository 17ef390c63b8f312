//! `POST /api/publishes`: makes the staged index the one that answers. For organizations.

use axum::{Json, extract::State};
use serde::Serialize;
use tollgate_http::{Passed, Rejection};

use crate::{App, Session, Summary, policies::PUBLISH};

#[derive(Debug, Serialize)]
pub(super) struct Published {
    #[serde(flatten)]
    live: Summary,
    /// Whether another edition is live than before: not if nothing was staged.
    changed: bool,
}

pub(super) async fn publish(
    State(app): State<App>,
    session: Session,
) -> Result<(Passed, Json<Published>), Rejection> {
    let passed = app.admit(&[PUBLISH.charge(session.org())]).await?;
    let (live, changed) = app.work(|site| Ok(site.publish())).await?;
    Ok((passed, Json(Published { live, changed })))
}
