//! A limiter on the store that the environment asks for.

use std::{error::Error, fmt, sync::Arc};

use tollgate_guard::{
    Clock, Limit, LimitError, Limiter, LimiterError, OnOutage, OwnedPolicy, PolicyError, Store, SystemClock,
    Window,
};

use crate::{EnvError, env};

/// One limit under a name: always a sliding window.
///
/// In a shared store, limiters of one namespace and one name count together, in whatever process they are. In memory each limiter
/// counts for itself, also beside another of the same name: make one and share it, or give several [one store](Self::on).
///
/// ```
/// use std::sync::Arc;
/// use tollgate::{LimiterOptions, MemoryStore, OnOutage, SystemClock, Window, limiter};
///
/// let uploads = || LimiterOptions::new("uploads", 30, Window::MINUTE, OnOutage::Deny);
/// let limiter = limiter(uploads(), |name| std::env::var(name).ok())?;
///
/// // In tests, a stand-in store is one line.
/// let limiter = uploads().on(Arc::new(MemoryStore::new()), SystemClock)?;
/// # Ok::<(), tollgate::OptionsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "options make a limiter"]
pub struct LimiterOptions {
    name: String,
    limit: u64,
    window: Window,
    on_outage: OnOutage,
    namespace: String,
}

impl LimiterOptions {
    /// At most `limit` requests of a key in a sliding window. Keys in a shared store are `limit:<name>:<key>:<window number>`.
    pub fn new(name: impl Into<String>, limit: u64, window: Window, on_outage: OnOutage) -> Self {
        Self { name: name.into(), limit, window, on_outage, namespace: env::NAMESPACE.to_owned() }
    }

    /// Begins the keys with another word than `limit`, so that another service's limits stay apart.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// The limiter, on this store and this clock. The keys begin with what the store says, not with the namespace.
    ///
    /// # Errors
    /// Only if the name is none, the limit is out of range, or [`OnOutage::Local`] is asked for, which a limiter has no store for.
    pub fn on(self, store: Arc<dyn Store>, clock: impl Clock) -> Result<Limiter, OptionsError> {
        let limit = Limit::try_sliding(self.limit, self.window).map_err(OptionsError::Limit)?;
        let policy =
            OwnedPolicy::try_new(self.name, 1, limit, self.on_outage).map_err(OptionsError::Policy)?;
        Limiter::new(policy, store, clock).map_err(OptionsError::Limiter)
    }
}

/// A limiter on the store that the environment asks for, as [`store`](crate::store) chooses it, by the system's clock.
///
/// # Errors
/// If the options or the environment cannot be used.
pub fn limiter(
    options: LimiterOptions,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Limiter, OptionsError> {
    let store = env::open(env, &options.namespace).map_err(OptionsError::Env)?;
    options.on(store, SystemClock)
}

/// A limiter that cannot be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum OptionsError {
    /// The environment asks for a store that cannot be had.
    Env(EnvError),
    /// The limit is out of range.
    Limit(LimitError),
    /// The name is none.
    Policy(PolicyError),
    /// The limiter could not do what the options say.
    Limiter(LimiterError),
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Env(_) => "the environment of a limiter cannot be used",
            Self::Limit(_) => "the limit of a limiter is out of range",
            Self::Policy(_) => "the name of a limiter is not allowed",
            Self::Limiter(_) => "a limiter cannot do what its options say",
        })
    }
}

impl Error for OptionsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Env(error) => error,
            Self::Limit(error) => error,
            Self::Policy(error) => error,
            Self::Limiter(error) => error,
        })
    }
}
