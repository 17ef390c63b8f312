//! How deliveries are set up.

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc};

use tollgate_core::Window;
use tollgate_store::{Claims, NameError, OwnedName};

use crate::{
    Deliveries, OnClaimOutage,
    deliveries::{Clock, Shared, Spawner, Terms},
};

/// Sets up [`Deliveries`].
#[must_use]
pub struct DeliveriesBuilder {
    name: String,
    claims: Arc<dyn Claims>,
    clock: Arc<Clock>,
    spawner: Option<Arc<Spawner>>,
    lease: Option<Window>,
    retention: Option<Window>,
    on_outage: OnClaimOutage,
    simple: Option<String>,
}

impl DeliveriesBuilder {
    pub(crate) fn new(
        name: String,
        claims: Arc<dyn Claims>,
        clock: Arc<Clock>,
        on_outage: OnClaimOutage,
    ) -> Self {
        Self { name, claims, clock, spawner: None, lease: None, retention: None, on_outage, simple: None }
    }

    /// How long a claim is held: a little above what the work takes at most, five minutes unless told otherwise. Longer work renews.
    /// If a worker dies, a redelivery is processed after that.
    pub fn lease(mut self, lease: Window) -> Self {
        self.lease = Some(lease);
        self
    }

    /// How long a confirmed id is a duplicate: longer than the sender delivers again, seven days unless told otherwise.
    pub fn retention(mut self, retention: Window) -> Self {
        self.retention = Some(retention);
        self
    }

    /// How to run what is left to do when a [`Delivery`](crate::Delivery) is dropped: its claim is released then, or its confirmation,
    /// which failed or was given up, is tried once more. With Tokio `|task| drop(tokio::spawn(task))`, or what
    /// `tollgate_guard::tokio_spawner` makes. It must neither block nor run the task on the spot.
    ///
    /// A store that answers at once, in memory, needs none. With any other and no spawner, the claim of a handler that panics or is
    /// cancelled is held until its lease ends. So it is if the task is dropped before its end, as when a runtime shuts down. A warning
    /// is logged then.
    ///
    /// To lose none at shutdown, spawn where tasks can be waited for, such as on the `TaskTracker` of `tokio-util`: once the server has
    /// stopped, close the tracker and wait for it, for as long as the store's deadline at most.
    ///
    /// ```text
    /// let tracker = TaskTracker::new();
    /// let tasks = tracker.clone();
    /// let deliveries = builder.spawner(move |task| drop(tasks.spawn(task))).build()?;
    /// // … serve until told to stop …
    /// tracker.close();
    /// tracker.wait().await;
    /// ```
    pub fn spawner(
        mut self,
        spawner: impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + 'static,
    ) -> Self {
        self.spawner = Some(Arc::new(spawner));
        self
    }

    /// The simple mode: one mark for each id under a literal key, such as `github-delivery:<id>`, without a store's prefix and without
    /// the hook or project. It is made at once if there is none yet, and lives for 24 hours.
    ///
    /// It is what `SET github-delivery:<id> … NX EX 86400` does, and shares its marks with programs that do that. A delivery in
    /// progress is a duplicate; to confirm has the mark live for 24 hours from then, and lets a store that is full give it up before one
    /// that is in progress; to release removes it. If the process dies meanwhile, the delivery is lost until the mark has gone. Two
    /// hooks of one event are one.
    ///
    /// A lease and a retention are not for this mode, in which there is but one time.
    pub fn simple(mut self, key_prefix: impl Into<String>) -> Self {
        self.simple = Some(key_prefix.into());
        self
    }

    /// The deliveries. Nothing is sent yet.
    ///
    /// # Errors
    /// Only if the name is none, the retention is shorter than the lease, the literal keys would begin with nothing, or the simple mode
    /// was given a lease or a retention.
    pub fn build(self) -> Result<Deliveries, DeliveriesError> {
        let name = OwnedName::try_new(&self.name).map_err(DeliveriesError::Name)?;
        let (lease, retention) = if self.simple.is_none() {
            (self.lease.unwrap_or(Deliveries::LEASE), self.retention.unwrap_or(Deliveries::RETENTION))
        } else if self.lease.is_some() || self.retention.is_some() {
            return Err(DeliveriesError::SimpleTimes);
        } else {
            (Deliveries::SIMPLE_RETENTION, Deliveries::SIMPLE_RETENTION)
        };
        if retention < lease {
            return Err(DeliveriesError::Retention { lease, retention });
        }
        if self.simple.as_ref().is_some_and(|prefix| prefix.trim().is_empty()) {
            return Err(DeliveriesError::KeyPrefix);
        }
        let terms =
            Terms { name, lease, retention, on_outage: self.on_outage, simple: self.simple.map(Into::into) };
        let (claims, clock, spawner) = (self.claims, self.clock, self.spawner);
        Ok(Deliveries::from_parts(Shared { claims, clock, terms, spawner }))
    }
}

impl fmt::Debug for DeliveriesBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveriesBuilder")
            .field("name", &self.name)
            .field("lease", &self.lease)
            .field("retention", &self.retention)
            .field("on_outage", &self.on_outage)
            .field("simple", &self.simple)
            .finish_non_exhaustive()
    }
}

/// Deliveries that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveriesError {
    /// The name is none.
    Name(NameError),
    /// What is done would be forgotten sooner than what is not.
    Retention {
        /// How long a claim is held.
        lease: Window,
        /// How long it is remembered.
        retention: Window,
    },
    /// The literal keys of the simple mode would be nothing but an id, and could be anybody's.
    KeyPrefix,
    /// The simple mode was given a lease or a retention: its marks live for [`Deliveries::SIMPLE_RETENTION`], whatever becomes of the
    /// work.
    SimpleTimes,
}

impl fmt::Display for DeliveriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(_) => f.write_str("deliveries need a name for their keys, as in `github`"),
            Self::Retention { lease, retention } => write!(
                f,
                "a retention of {retention} is shorter than the lease of {lease}: use at least as long, mostly days"
            ),
            Self::KeyPrefix => {
                f.write_str("literal keys need a beginning of their own, as in `github-delivery:`")
            }
            Self::SimpleTimes => f.write_str(
                "the marks of the simple mode live for a day: leave out the lease and the retention, or the mode",
            ),
        }
    }
}

impl Error for DeliveriesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Name(error) => Some(error),
            Self::Retention { .. } | Self::KeyPrefix | Self::SimpleTimes => None,
        }
    }
}
