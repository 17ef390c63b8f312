//! `GET /api/limits`: what this visitor, and the organization it is signed in as, may still do. Counts nothing.

use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
};
use serde::Deserialize;
use tollgate_http::Rejection;

use crate::{
    App, Name, Session, Visiting,
    allowance::{Allowance, Row},
};

#[derive(Debug, Deserialize)]
pub(super) struct About {
    /// Whose questions: this site's own unless named.
    project: Option<Name>,
}

impl About {
    /// The project of a query, or a problem that says what is wrong with it.
    pub(super) fn read(about: Result<Query<Self>, QueryRejection>) -> Result<Option<Name>, Rejection> {
        match about {
            Ok(Query(Self { project })) => Ok(project),
            Err(error) => Err(Rejection::problem(StatusCode::BAD_REQUEST, error.body_text())),
        }
    }
}

/// The project of this site.
pub(super) const OWN_PROJECT: &str = "tollgate";

pub(super) async fn limits(
    State(app): State<App>,
    visiting: Visiting,
    session: Option<Session>,
    about: Result<Query<About>, QueryRejection>,
) -> Result<Json<Vec<Row>>, Rejection> {
    let project = About::read(about)?;
    let allowance = Allowance {
        visitor: visiting.visitor(),
        project: project.as_ref().map_or(OWN_PROJECT, Name::as_str),
        org: session.as_ref().map(|session| session.org().as_str()),
    };
    Ok(Json(allowance.look(&app).await))
}
