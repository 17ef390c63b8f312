//! What a caller may still do: every policy it can meet, with its key and its figures. Looking counts nothing.

use serde::Serialize;
use tollgate_guard::{
    Decision, KeyParts, MOST_CHARGES, OnOutage, Policy, PolicyCharge, PolicyDecision, Timestamp,
};
use tollgate_visitor::Visitor;

use crate::{
    App,
    policies::{
        ASK, ASK_ALL, ASK_BURST, ASK_SITE, AUTH, AccountPath, DOCS_RUN, DOCS_UPDATE, GITHUB, PAGE_RETRY,
        PLAYGROUND_MINUTE, PUBLISH,
    },
};

/// Whose limits are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance<'a> {
    pub(crate) visitor: &'a Visitor,
    /// The project that is asked about.
    pub(crate) project: &'a str,
    /// The organization that is signed in.
    pub(crate) org: Option<&'a str>,
}

/// One policy for one key; the figures are missing while the store is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
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

impl Row {
    /// When its window ends, if that is known.
    pub(crate) fn reset_at(&self) -> Option<Timestamp> {
        self.reset_at.map(Timestamp::from_unix_ms)
    }
}

impl Allowance<'_> {
    /// Asks the store, in as few calls as it takes.
    pub(crate) async fn look(&self, app: &App) -> Vec<Row> {
        let account_parts = AccountPath::ALL.map(|path| (path, path.part(self.visitor)));
        let asked = self.asked(app, &account_parts);
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
        rows
    }

    /// Every charge this caller could meet, in the order in which they are shown.
    fn asked<'a>(&'a self, app: &App, account_parts: &'a [(AccountPath, String)]) -> Vec<Asked<'a>> {
        let Self { visitor, project, org } = *self;
        let mut all = vec![
            Asked::new(&ASK_BURST, visitor),
            Asked::new(&ASK, (project, visitor)),
            Asked::new(&ASK_SITE, project),
            Asked::new(&ASK_ALL, ()),
            Asked::new(&PLAYGROUND_MINUTE, visitor),
            Asked::new(&app.playground_day(), ()),
            Asked::new(&app.tokens(), ()),
        ];
        if let Some(org) = org {
            let own = [GITHUB, DOCS_RUN, PAGE_RETRY, PUBLISH, DOCS_UPDATE];
            all.extend(own.map(|policy| Asked::new(&policy, org)));
        }
        all.extend(account_parts.iter().map(|(path, part)| Asked {
            charge: AUTH.charge(part).limit(path.limit()),
            window_ms: path.limit().period().ms(),
            on_outage: AUTH.on_outage(),
        }));
        all
    }
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
