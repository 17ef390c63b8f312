//! `GET /api/limits`: what this visitor, and the organization it is signed in as, may still do. Counts nothing.

use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use tollgate_guard::{Decision, KeyParts, MOST_CHARGES, OnOutage, Policy, PolicyCharge, PolicyDecision};
use tollgate_http::{Caller, Rejection};
use tollgate_visitor::Visitor;

use crate::{
    App, Name, Session,
    policies::{
        ASK, ASK_ALL, ASK_BURST, ASK_SITE, AUTH, AccountPath, DOCS_RUN, GITHUB, PAGE_RETRY,
        PLAYGROUND_MINUTE, PUBLISH,
    },
};

#[derive(Debug, Deserialize)]
pub(super) struct About {
    /// Whose questions: this site's own unless named.
    project: Option<Name>,
}

/// One policy for one key; the figures are missing while the store is gone.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    policy: String,
    key: String,
    quota: Option<u64>,
    used: Option<u64>,
    remaining: Option<u64>,
    window_ms: u64,
    /// Unix milliseconds.
    reset_at: Option<u64>,
    on_outage: &'static str,
}

pub(super) async fn limits(
    State(app): State<App>,
    Caller(visitor): Caller,
    session: Option<Session>,
    about: Result<Query<About>, QueryRejection>,
) -> Result<Json<Vec<Row>>, Rejection> {
    let Query(about) =
        about.map_err(|error| Rejection::problem(StatusCode::BAD_REQUEST, error.body_text()))?;
    let project = about.project.as_ref().map_or("tollgate", Name::as_str);
    let account_parts = AccountPath::ALL.map(|path| (path, path.part(&visitor)));
    let asked = asked(&app, project, &visitor, &account_parts, session.as_ref());
    let mut rows = Vec::with_capacity(asked.len());
    for some in asked.chunks(MOST_CHARGES) {
        let charges: Vec<PolicyCharge<'_>> = some.iter().map(|asked| asked.charge.clone()).collect();
        let outcome = app.guard().peek(&charges).await;
        for (at, asked) in some.iter().enumerate() {
            // During an outage there are fewer decisions than charges, or none.
            let said = outcome.decisions().iter().find(|said| said.place() == at);
            rows.push(asked.row(said.map(PolicyDecision::decision)));
        }
    }
    Ok(Json(rows))
}

/// Every charge this caller could meet, in the order in which they are shown.
fn asked<'a>(
    app: &App,
    project: &'a str,
    visitor: &'a Visitor,
    account_parts: &'a [(AccountPath, String)],
    session: Option<&'a Session>,
) -> Vec<Asked<'a>> {
    let mut all = vec![
        Asked::new(&ASK_BURST, visitor),
        Asked::new(&ASK, (project, visitor)),
        Asked::new(&ASK_SITE, project),
        Asked::new(&ASK_ALL, ()),
        Asked::new(&PLAYGROUND_MINUTE, visitor),
        Asked::new(&app.playground_day(), ()),
    ];
    if let Some(org) = session.map(Session::org) {
        all.extend([GITHUB, DOCS_RUN, PAGE_RETRY, PUBLISH].map(|policy| Asked::new(&policy, org)));
    }
    all.extend(account_parts.iter().map(|(path, part)| Asked {
        charge: AUTH.charge(part).limit(path.limit()),
        window_ms: path.limit().period().ms(),
        on_outage: AUTH.on_outage(),
    }));
    all
}

struct Asked<'a> {
    charge: PolicyCharge<'a>,
    window_ms: u64,
    on_outage: OnOutage,
}

impl<'a> Asked<'a> {
    fn new<const N: usize>(policy: &Policy<N>, parts: impl KeyParts<'a, N>) -> Self {
        Self {
            charge: policy.charge(parts),
            window_ms: policy.limit().period().ms(),
            on_outage: policy.on_outage(),
        }
    }

    fn row(&self, decision: Option<&Decision>) -> Row {
        Row {
            policy: self.charge.name().as_str().to_owned(),
            key: self.charge.key().to_string(),
            quota: decision.map(|decision| decision.quota().get()),
            used: decision.map(|decision| decision.used().get()),
            remaining: decision.map(Decision::remaining),
            window_ms: self.window_ms,
            reset_at: decision.map(|decision| decision.reset_at().unix_ms()),
            on_outage: match self.on_outage {
                OnOutage::Allow => "allow",
                OnOutage::Deny => "deny",
                OnOutage::Local(_) => "local",
            },
        }
    }
}
