//! Puts the parts together: configuration, store, guard and site.

use std::{error::Error, fmt, sync::Arc};

use axum::extract::FromRef;
use axum_extra::extract::cookie::Key;
use tollgate::StoreKind;
use tollgate_guard::{Clock, Guard, GuardError, Policy, PolicyCharge, Reservation, tokio_spawner};
use tollgate_http::{Passed, Refused, Rejection, admit};
use tollgate_store::{Claims, Store};
use tollgate_visitor::VisitorSource;
use tollgate_webhook::{Deliveries, DeliveriesError, GithubSecrets, OnClaimOutage, SecretError};

use crate::{
    Found, Question,
    activity::Activity,
    answer::{self, Answer, Model},
    config::Config,
    fault::{Faulty, Switch},
    jobs::{Jobs, JobsError},
    live::Live,
    metering::{self, Spent},
    pages::PagesError,
    policies, problem,
    routes::model_failed,
    site::Site,
};

/// The application: what every route shares. Clones are one application.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    guard: Arc<Guard<Faulty<Arc<dyn Store>>>>,
    deliveries: Deliveries,
    webhook_secrets: Option<GithubSecrets>,
    jobs: Jobs,
    does_jobs: bool,
    spent: Spent,
    switch: Switch,
    has_fault_switch: bool,
    activity: Activity,
    live: Live,
    model: Option<Model>,
    store: StoreKind,
    playground_day: Policy<0>,
    tokens: Policy<0>,
    session_key: Key,
    site: Site,
    visitor: Arc<VisitorSource>,
}

impl App {
    /// The application on this store, with claims in that one, by this clock.
    ///
    /// # Errors
    /// If the pages cannot be read, or where jobs are to wait cannot be used.
    pub fn new(
        config: Config,
        store: Arc<dyn Store>,
        claims: Arc<dyn Claims>,
        clock: impl Clock,
    ) -> Result<Self, AppError> {
        let switch = Switch::new();
        let playground_day = policies::playground_day(config.playground_day);
        let tokens = policies::tokens(config.tokens_day);
        let guard = Guard::builder(Faulty::new(store, switch.clone()))
            .policies(policies::all(playground_day, tokens))
            .clock(clock)
            .spawner(tokio_spawner())
            .build()
            .map_err(AppError::Guard)?;
        let guard = Arc::new(guard);
        let clock = Arc::clone(&guard);
        // GitHub delivers once: what cannot be told apart is rather done twice than never.
        let claims = Faulty::new(claims, switch.clone());
        let deliveries =
            Deliveries::builder("delivery", claims, OnClaimOutage::ProcessAnyway, move || clock.now())
                .lease(config.delivery_lease)
                .spawner(tokio_spawner())
                .build()
                .map_err(AppError::Deliveries)?;
        let webhook_secrets = match config.webhook_secrets {
            None if config.has_fault_switch => Some(own_secret().map_err(AppError::Secret)?),
            secrets => secrets,
        };
        Ok(Self(Arc::new(Parts {
            guard,
            deliveries,
            webhook_secrets,
            jobs: Jobs::open(config.jobs).map_err(AppError::Jobs)?,
            does_jobs: config.does_jobs,
            spent: Spent::default(),
            switch,
            has_fault_switch: config.has_fault_switch,
            activity: Activity::default(),
            live: Live::new(),
            model: config.model,
            store: config.store,
            playground_day,
            tokens,
            session_key: config.session_key,
            site: Site::open(config.pages).map_err(AppError::Pages)?,
            visitor: Arc::new(config.visitor),
        })))
    }

    /// What meters the site.
    #[must_use]
    pub fn guard(&self) -> &Guard<Faulty<Arc<dyn Store>>> {
        &self.0.guard
    }

    /// What switches its store off.
    #[must_use]
    pub fn switch(&self) -> &Switch {
        &self.0.switch
    }

    /// Whether clients may use that switch.
    #[must_use]
    pub fn has_fault_switch(&self) -> bool {
        self.0.has_fault_switch
    }

    /// What kind of store counts.
    #[must_use]
    pub fn store_kind(&self) -> StoreKind {
        self.0.store
    }

    /// The playground's budget, as configured.
    #[must_use]
    pub fn playground_day(&self) -> Policy<0> {
        self.0.playground_day
    }

    /// The budget of tokens, as configured.
    #[must_use]
    pub fn tokens(&self) -> Policy<0> {
        self.0.tokens
    }

    /// How many answers have ended since the process began, and how many tokens they used: counted beside the budget, so that
    /// both can be compared.
    #[must_use]
    pub fn spent_so_far(&self) -> (u64, u64) {
        self.0.spent.so_far()
    }

    /// Whether the server itself is to [do](Self::serve_jobs) what webhooks leave to do.
    #[must_use]
    pub fn does_jobs(&self) -> bool {
        self.0.does_jobs
    }

    /// Ends the live streams, which would keep a server from stopping.
    pub fn close(&self) {
        self.0.live.close();
    }

    pub(crate) fn shared_guard(&self) -> Arc<Guard<Faulty<Arc<dyn Store>>>> {
        Arc::clone(&self.0.guard)
    }

    pub(crate) fn deliveries(&self) -> &Deliveries {
        &self.0.deliveries
    }

    /// What webhooks may be signed with; without any, none is genuine.
    pub(crate) fn webhook_secrets(&self) -> Option<&GithubSecrets> {
        self.0.webhook_secrets.as_ref()
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    pub(crate) fn spent(&self) -> &Spent {
        &self.0.spent
    }

    pub(crate) fn visitor_source(&self) -> Arc<VisitorSource> {
        Arc::clone(&self.0.visitor)
    }

    pub(crate) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    pub(crate) fn live(&self) -> &Live {
        &self.0.live
    }

    /// What words the answers; without one they are the pages' own words.
    pub(crate) fn model(&self) -> Option<&Model> {
        self.0.model.as_ref()
    }

    /// Answers a question from what was found for it, and settles what was reserved to what that used. Where nothing was found, nobody
    /// is asked.
    pub(crate) async fn answer(
        &self,
        question: &Question,
        found: Vec<Found>,
        reservation: Reservation,
    ) -> Result<Answer, Rejection> {
        let answer = match self.model() {
            Some(model) if !found.is_empty() => match model.ask(question.as_str(), found).await {
                Ok(answer) => answer,
                Err(error) => {
                    metering::not_begun(reservation).await;
                    return Err(model_failed(&error));
                }
            },
            Some(_) | None => answer::offline(question.as_str(), found),
        };
        Ok(metering::metered(self, answer, reservation))
    }

    /// Takes in what the guard has counted since the last time. Whether there was anything.
    pub(crate) fn note_activity(&self) -> bool {
        self.0.activity.note(|| self.0.guard.stats(), self.0.guard.now())
    }

    pub(crate) fn session_key(&self) -> &Key {
        &self.0.session_key
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0.site
    }

    /// Takes all charges or none: the fields for the answer, or the refusal to answer with.
    pub(crate) async fn admit(&self, charges: &[PolicyCharge<'_>]) -> Result<Passed, Refused> {
        let outcome = self.guard().check(charges).await;
        admit(outcome, self.guard().now())
    }

    /// As [`admit`](Self::admit), for charges of which one is an estimate: the reservation is to be settled.
    pub(crate) async fn reserve(
        &self,
        charges: &[PolicyCharge<'_>],
    ) -> Result<(Passed, Reservation), Refused> {
        let outcome = self.0.guard.reserve(charges).await;
        for warning in outcome.warnings() {
            tracing::info!(policy = %warning.policy(), "a budget is nearly used up");
        }
        admit(outcome, self.guard().now()).map(Passed::into_parts)
    }

    /// Works on the site where blocking is allowed.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site) -> Result<T, PagesError> + Send + 'static,
    ) -> Result<T, Rejection> {
        let app = self.clone();
        match tokio::task::spawn_blocking(move || work(app.site())).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                tracing::error!(error = &error as &dyn Error, "the pages cannot be read");
                Err(problem::internal())
            }
            Err(_panicked) => Err(problem::internal()),
        }
    }
}

impl FromRef<App> for Key {
    fn from_ref(app: &App) -> Self {
        app.session_key().clone()
    }
}

impl FromRef<App> for Arc<VisitorSource> {
    fn from_ref(app: &App) -> Self {
        Self::clone(&app.0.visitor)
    }
}

/// A secret that nobody else knows, for servers that have none: only what they replay themselves is genuine then.
fn own_secret() -> Result<GithubSecrets, SecretError> {
    tracing::info!(
        "GITHUB_WEBHOOK_SECRET is not set: only this server's own replays of webhooks are genuine"
    );
    let hex = |key: Key| key.signing().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    GithubSecrets::new(Key::try_generate().map(hex))
}

/// An application that cannot be put together.
#[derive(Debug)]
#[non_exhaustive]
pub enum AppError {
    /// The policies cannot stand together.
    Guard(GuardError),
    /// The deliveries of webhooks cannot be held as configured.
    Deliveries(DeliveriesError),
    /// The system gives no random bytes for a secret.
    Secret(SecretError),
    /// Where jobs are to wait cannot be used.
    Jobs(JobsError),
    /// The pages cannot be read.
    Pages(PagesError),
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Guard(_) => "the policies cannot stand together",
            Self::Deliveries(_) => "the deliveries of webhooks cannot be held: check TOLLGATE_DEMO_LEASE",
            Self::Secret(_) => "there is no secret for webhooks: set GITHUB_WEBHOOK_SECRET",
            Self::Jobs(_) => "what webhooks leave to do has no place to wait",
            Self::Pages(_) => "the site has no pages to answer from",
        })
    }
}

impl Error for AppError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Guard(error) => Some(error),
            Self::Deliveries(error) => Some(error),
            Self::Secret(error) => Some(error),
            Self::Jobs(error) => Some(error),
            Self::Pages(error) => Some(error),
        }
    }
}
