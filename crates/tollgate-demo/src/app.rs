//! Puts the parts together: configuration, store, guard and site.

use std::{error::Error, fmt, sync::Arc};

use axum::extract::FromRef;
use axum_extra::extract::cookie::Key;
use tollgate::StoreKind;
use tollgate_guard::{Clock, Guard, GuardError, Policy, PolicyCharge};
use tollgate_http::{Passed, Refused, Rejection, admit};
use tollgate_store::Store;
use tollgate_visitor::VisitorSource;

use crate::{
    Found, Question,
    activity::Activity,
    answer::{self, Answer, Model},
    config::Config,
    fault::{Faulty, Switch},
    live::Live,
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
    guard: Guard<Faulty<Arc<dyn Store>>>,
    switch: Switch,
    has_fault_switch: bool,
    activity: Activity,
    live: Live,
    model: Option<Model>,
    store: StoreKind,
    playground_day: Policy<0>,
    session_key: Key,
    site: Site,
    visitor: Arc<VisitorSource>,
}

impl App {
    /// The application on this store, by this clock.
    ///
    /// # Errors
    /// If the pages cannot be read.
    pub fn new(config: Config, store: Arc<dyn Store>, clock: impl Clock) -> Result<Self, AppError> {
        let switch = Switch::new();
        let playground_day = policies::playground_day(config.playground_day);
        let guard = Guard::builder(Faulty::new(store, switch.clone()))
            .policies(policies::all(playground_day))
            .clock(clock)
            .build()
            .map_err(AppError::Guard)?;
        Ok(Self(Arc::new(Parts {
            guard,
            switch,
            has_fault_switch: config.has_fault_switch,
            activity: Activity::default(),
            live: Live::new(),
            model: config.model,
            store: config.store,
            playground_day,
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

    /// Ends the live streams, which would keep a server from stopping.
    pub fn close(&self) {
        self.0.live.close();
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

    /// Answers a question from what was found for it. Where nothing was, nobody is asked.
    pub(crate) async fn answer(&self, question: &Question, found: Vec<Found>) -> Result<Answer, Rejection> {
        match self.model() {
            Some(model) if !found.is_empty() => match model.ask(question.as_str(), &found).await {
                Ok(pieces) => Ok(Answer { sources: found, pieces }),
                Err(error) => Err(model_failed(&error)),
            },
            Some(_) | None => Ok(answer::offline(question.as_str(), found)),
        }
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

/// An application that cannot be put together.
#[derive(Debug)]
#[non_exhaustive]
pub enum AppError {
    /// The policies cannot stand together.
    Guard(GuardError),
    /// The pages cannot be read.
    Pages(PagesError),
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Guard(_) => "the policies cannot stand together",
            Self::Pages(_) => "the site has no pages to answer from",
        })
    }
}

impl Error for AppError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Guard(error) => Some(error),
            Self::Pages(error) => Some(error),
        }
    }
}
