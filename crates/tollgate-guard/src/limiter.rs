//! One policy bound to one store, for those who want a yes or no for a text.

use std::sync::Arc;

use tollgate_core::Timestamp;
use tollgate_store::{Part, Store};

use crate::{Clock, Guard, GuardError, Outcome, OwnedPolicy, PolicyError};

/// One policy bound to one store: a text in, yes or no out, and never an error.
///
/// ```
/// use std::sync::Arc;
/// use tollgate_guard::{Limit, Limiter, OnOutage, Policy, SystemClock, Window};
/// # use tollgate_memory::MemoryStore;
///
/// const UPLOADS: Policy<1> = Policy::new("uploads", Limit::sliding(2, Window::MINUTE), OnOutage::Deny);
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let limiter = Limiter::new(UPLOADS, Arc::new(MemoryStore::new()), SystemClock)?;
/// let result = limiter.limit("203.0.113.7").await;
/// assert!(result.success);
/// assert_eq!(result.remaining, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Limiter {
    guard: Guard,
    policy: OwnedPolicy,
}

/// What a limiter answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct LimitResult {
    /// Whether the request may go ahead.
    pub success: bool,
    /// When a refused request would be admitted (one that never can be: [`Timestamp::MAX`]); otherwise when the window ends. Failing
    /// open it is now, failing closed 60 s from now.
    pub reset: Timestamp,
    /// How many units are left; 0 when the store is gone.
    pub remaining: u64,
    /// Whether it was refused because the store is gone, and not because the limit is reached.
    pub degraded: bool,
}

impl Limiter {
    /// Binds a policy of one key part, of either kind, to a store.
    ///
    /// # Errors
    /// Only if the policy has another number of parts, or could not do what it says: see [`GuardError`]. A limiter has no local store,
    /// so [`OnOutage::Local`](crate::OnOutage::Local) is refused.
    pub fn new(
        policy: impl Into<OwnedPolicy>,
        store: Arc<dyn Store>,
        clock: impl Clock,
    ) -> Result<Self, LimiterError> {
        let policy = policy.into();
        if policy.parts() != 1 {
            let error = PolicyError::WrongParts { needed: policy.parts(), given: 1 };
            return Err(LimiterError::Policy(error));
        }
        let guard =
            Guard::builder(store).policy(&policy).clock(clock).build().map_err(LimiterError::Guard)?;
        Ok(Self { guard, policy })
    }

    /// Takes one request of `key`, which may be any text.
    pub async fn limit(&self, key: &str) -> LimitResult {
        // The policy has one part: `new` has tried.
        let Ok(charge) = self.policy.charge(&[Part::Text(key)]) else {
            return LimitResult::closed(self.guard.now());
        };
        match self.guard.check(&[charge]).await {
            Outcome::Allow(pass) => match pass.decisions() {
                [one] => LimitResult {
                    success: true,
                    reset: one.decision().reset_at(),
                    remaining: one.decision().remaining(),
                    degraded: false,
                },
                _ => LimitResult { success: true, reset: pass.decided_at(), remaining: 0, degraded: false },
            },
            Outcome::Deny(refusal) => LimitResult {
                success: false,
                reset: refusal.retry_at().unwrap_or(Timestamp::MAX),
                remaining: refusal.decisions().first().map_or(0, |one| one.decision().remaining()),
                degraded: false,
            },
            Outcome::Unavailable(outage) => LimitResult::closed(outage.noticed_at()),
        }
    }

    /// The guard inside, for its counts.
    #[must_use]
    pub const fn guard(&self) -> &Guard {
        &self.guard
    }
}

impl LimitResult {
    fn closed(now: Timestamp) -> Self {
        Self {
            success: false,
            reset: now.saturating_add(crate::Outage::RETRY_AFTER),
            remaining: 0,
            degraded: true,
        }
    }
}

/// A limiter that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimiterError {
    /// The policy cannot be charged with one part.
    Policy(PolicyError),
    /// The policy could not do what it says.
    Guard(GuardError),
}

impl std::fmt::Display for LimiterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Policy(_) => "a limiter needs a policy of one key part",
            Self::Guard(_) => "a limiter cannot do what its policy says",
        })
    }
}

impl std::error::Error for LimiterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Policy(error) => Some(error),
            Self::Guard(error) => Some(error),
        }
    }
}
