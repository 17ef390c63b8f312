//! How a guard is put together, and what is refused there.

use std::{fmt, sync::Arc};

use tollgate_core::{Timestamp, Units};
use tollgate_store::{Name, Store, Take};

use crate::{
    AnyPolicy, Clock, Guard, OnOutage, PolicyName, SettleTask, SystemClock, guard::Parts,
    outage_log::OutageLog, spawner::Spawner, stats::Tally,
};

/// Puts a guard together. Made by [`Guard::builder`].
#[derive(Debug)]
#[must_use]
pub struct GuardBuilder<S> {
    store: S,
    local: Option<Arc<dyn Store>>,
    clock: Arc<dyn Clock>,
    policies: Vec<AnyPolicy>,
    spawner: Option<Spawner>,
}

impl<S: Store> GuardBuilder<S> {
    pub(crate) fn new(store: S) -> Self {
        Self { store, local: None, clock: Arc::new(SystemClock), policies: Vec::new(), spawner: None }
    }

    /// Registers a policy. A charge of any other is a misuse.
    pub fn policy(mut self, policy: impl Into<AnyPolicy>) -> Self {
        self.policies.push(policy.into());
        self
    }

    /// Registers several.
    pub fn policies<P: Into<AnyPolicy>>(mut self, policies: impl IntoIterator<Item = P>) -> Self {
        self.policies.extend(policies.into_iter().map(Into::into));
        self
    }

    /// Where policies with [`OnOutage::Local`] count while the store is gone: a store that answers at once, in memory.
    pub fn local(mut self, local: Arc<dyn Store>) -> Self {
        self.local = Some(local);
        self
    }

    /// Takes the time from this clock and not from the system's.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// How settlements run that nobody waits for: those of [`Reservation`](crate::Reservation)s that are dropped.
    ///
    /// A store that answers at once needs none. With any other and no spawner, what a dropped reservation took stays spent, and a
    /// warning is logged. It is called where the reservation is dropped, and must neither block nor run the task on the spot. With
    /// the feature `tokio`, `tokio_spawner` makes one. A runtime that shuts down drops its tasks: to lose none, spawn where they can be
    /// waited for, such as on the `TaskTracker` of `tokio-util`, and wait once the server has stopped. Such a spawner, or one on
    /// another runtime, is a line:
    ///
    /// ```
    /// # use tollgate_guard::{Guard, SettleTask};
    /// # use tollgate_memory::MemoryStore;
    /// # let (tasks, _run_by_an_executor) = std::sync::mpsc::channel::<SettleTask>();
    /// let guard = Guard::builder(MemoryStore::new()).spawner(move |task| drop(tasks.send(task))).build()?;
    /// # Ok::<(), tollgate_guard::GuardError>(())
    /// ```
    pub fn spawner(mut self, spawn: impl Fn(SettleTask) + Send + Sync + 'static) -> Self {
        self.spawner = Some(Spawner::new(spawn));
        self
    }

    /// The guard.
    ///
    /// # Errors
    /// Only if the policies cannot stand together or could not do what they say: see [`GuardError`].
    pub fn build(self) -> Result<Guard<S>, GuardError> {
        for (at, policy) in self.policies.iter().enumerate() {
            for earlier in &self.policies[..at] {
                check_names(earlier, policy)?;
            }
            check_cost(policy)?;
            if let OnOutage::Local(share) = policy.terms.on_outage {
                let limit = policy.terms.limit;
                let local = share.of(limit);
                if limit.quota() > Units::ZERO && !local.can_ever_fit(policy.terms.cost.min(limit.quota())) {
                    return Err(GuardError::EmptyShare { policy: policy.name.clone() });
                }
                if self.local.is_none() {
                    return Err(GuardError::NoLocalStore { policy: policy.name.clone() });
                }
            }
        }
        let probe = Take { charges: &[], now: Timestamp::EPOCH };
        if self.local.as_ref().is_some_and(|local| local.take_now(&probe).is_none()) {
            return Err(GuardError::LocalStoreWaits);
        }
        Ok(Guard::new(Parts {
            store: self.store,
            local: self.local,
            clock: self.clock,
            policies: self.policies.into(),
            tally: Tally::default(),
            log: OutageLog::new(),
            spawner: self.spawner,
        }))
    }
}

fn check_names(one: &AnyPolicy, other: &AnyPolicy) -> Result<(), GuardError> {
    if one.name == other.name {
        return Err(GuardError::SameName { policy: one.name.clone() });
    }
    let covers =
        |short: &AnyPolicy, long: &AnyPolicy| match (Name::try_new(&short.name), Name::try_new(&long.name)) {
            (Ok(short), Ok(long)) => short.covers(long),
            _ => false,
        };
    for (short, long) in [(one, other), (other, one)] {
        if covers(short, long) {
            return Err(GuardError::NameExtends { short: short.name.clone(), long: long.name.clone() });
        }
    }
    Ok(())
}

fn check_cost(policy: &AnyPolicy) -> Result<(), GuardError> {
    let (quota, cost) = (policy.terms.limit.quota(), policy.terms.cost);
    // A quota of 0 is a closed limit, and meant to be.
    if quota > Units::ZERO && cost > quota {
        return Err(GuardError::CostAboveQuota { policy: policy.name.clone(), cost, quota });
    }
    Ok(())
}

/// Policies that cannot stand together, or could not do what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GuardError {
    /// Two policies have one name, so they would spend from one count.
    SameName {
        /// That name.
        policy: PolicyName,
    },
    /// One name is another and more words, so a key of the one could be a key of the other.
    NameExtends {
        /// The shorter name.
        short: PolicyName,
        /// The longer.
        long: PolicyName,
    },
    /// A policy's charges cost more than its limit ever admits.
    CostAboveQuota {
        /// The policy.
        policy: PolicyName,
        /// What its charges cost.
        cost: Units,
        /// What its limit admits.
        quota: Units,
    },
    /// A policy counts locally during an outage, and the guard has no local store.
    NoLocalStore {
        /// The policy.
        policy: PolicyName,
    },
    /// A policy's local share is too small for one charge, so it would refuse everything during an outage.
    EmptyShare {
        /// The policy.
        policy: PolicyName,
    },
    /// The local store does not answer at once.
    LocalStoreWaits,
}

impl fmt::Display for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameName { policy } => {
                write!(f, "two policies are called {policy:?}: give each a name of its own")
            }
            Self::NameExtends { short, long } => {
                write!(
                    f,
                    "the name {long:?} extends {short:?}, so their keys could be the same: rename one of the two"
                )
            }
            Self::CostAboveQuota { policy, cost, quota } => {
                write!(
                    f,
                    "a charge of {policy:?} costs {cost} and its quota is {quota}: it could never be admitted"
                )
            }
            Self::NoLocalStore { policy } => {
                write!(
                    f,
                    "{policy:?} counts locally during an outage: give the guard a local store, or choose Allow or Deny"
                )
            }
            Self::EmptyShare { policy } => write!(
                f,
                "the local share of {policy:?} comes to less than one charge: choose a larger share, or Deny"
            ),
            Self::LocalStoreWaits => {
                f.write_str("the local store does not answer at once: use one in memory")
            }
        }
    }
}

impl std::error::Error for GuardError {}
