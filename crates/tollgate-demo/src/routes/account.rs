//! `/api/session`: signing in, signing out, and who one is. Each has a rule of its own under one policy.

use axum::{Json, extract::State};
use axum_extra::extract::SignedCookieJar;
use serde::{Deserialize, Serialize};
use tollgate_http::{Passed, Refused, Rejection};
use tollgate_visitor::Visitor;

use crate::{
    App, Body, Name, Session, Visiting,
    policies::{AUTH, AccountPath},
};

#[derive(Debug, Deserialize)]
pub(super) struct SignIn {
    org: Name,
}

/// Who is signed in, if anybody, and until when (Unix milliseconds).
#[derive(Debug, Serialize)]
pub(super) struct Who {
    org: Option<String>,
    ends_at: Option<u64>,
}

impl Who {
    const NOBODY: Self = Self { org: None, ends_at: None };

    fn of(session: &Session) -> Self {
        Self { org: Some(session.org().as_str().to_owned()), ends_at: Some(session.ends_at().unix_ms()) }
    }
}

/// Signs in as any organization: this site has no passwords, only the limits that would guard them.
pub(super) async fn sign_in(
    State(app): State<App>,
    visiting: Visiting,
    jar: SignedCookieJar,
    Body(sign_in): Body<SignIn>,
) -> Result<(Passed, SignedCookieJar, Json<Who>), Rejection> {
    let passed = admit(&app, visiting.visitor(), AccountPath::SignIn).await?;
    let session = Session::new(sign_in.org, app.guard().now());
    Ok((passed, session.begin(jar), Json(Who::of(&session))))
}

pub(super) async fn sign_out(
    State(app): State<App>,
    visiting: Visiting,
    jar: SignedCookieJar,
) -> Result<(Passed, SignedCookieJar, Json<Who>), Rejection> {
    let passed = admit(&app, visiting.visitor(), AccountPath::SignOut).await?;
    Ok((passed, Session::end(jar), Json(Who::NOBODY)))
}

pub(super) async fn session(
    State(app): State<App>,
    visiting: Visiting,
    session: Option<Session>,
) -> Result<(Passed, Json<Who>), Rejection> {
    let passed = admit(&app, visiting.visitor(), AccountPath::Session).await?;
    Ok((passed, Json(session.as_ref().map_or(Who::NOBODY, Who::of))))
}

async fn admit(app: &App, visitor: &Visitor, path: AccountPath) -> Result<Passed, Refused> {
    let part = path.part(visitor);
    app.admit(&[AUTH.charge(&part).limit(path.limit())]).await
}
