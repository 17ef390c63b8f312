//! `/api/visitor`: who one is to this server, and, at the developer's own machine, acting as somebody else.

use axum::{Json, http::StatusCode};
use axum_extra::extract::SignedCookieJar;
use serde::{Deserialize, Serialize};
use tollgate_http::Rejection;

use crate::{
    Body, Visiting,
    visiting::{Role, RoleEntry},
};

/// A visitor as the server counts it.
#[derive(Debug, Serialize)]
pub(super) struct Seen {
    visitor: String,
    acts_as: Option<&'static str>,
    /// Whom it may act as; nobody unless it is at the server's own machine.
    roles: Vec<RoleEntry>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    /// The name of a role; `null` is oneself.
    acts_as: Option<String>,
}

impl Seen {
    pub(super) fn of(visiting: &Visiting) -> Self {
        let visitor = visiting.visitor().key().to_owned();
        Self { visitor, acts_as: visiting.role(), roles: visiting.roles() }
    }
}

pub(super) async fn seen(visiting: Visiting) -> Json<Seen> {
    Json(Seen::of(&visiting))
}

pub(super) async fn act(
    visiting: Visiting,
    jar: SignedCookieJar,
    Body(wanted): Body<Wanted>,
) -> Result<(SignedCookieJar, Json<Seen>), Rejection> {
    if !visiting.is_developer() {
        let detail = "only a client at the server's own machine may act as another visitor";
        return Err(Rejection::problem(StatusCode::FORBIDDEN, detail));
    }
    let role = match wanted.acts_as {
        None => None,
        Some(name) => Some(Role::named(&name).ok_or_else(no_such_role)?),
    };
    Ok((Role::remember(role, jar), Json(Seen::of(&visiting.acting_as(role)))))
}

fn no_such_role() -> Rejection {
    Rejection::problem(StatusCode::NOT_FOUND, "there is no such role: GET /api/visitor lists them")
}
