//! Deliveries that are each to be processed once.

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc};

use tollgate_core::{Timestamp, Window};
use tollgate_store::{ClaimToken, Claimed, Claims, Hold, OwnedName, StoreError, StoreErrorKind, random_id};

use crate::{DeliveriesBuilder, Delivery, DeliveryId, DeliveryTicket, held::Held, place::Place};

pub(crate) type Clock = dyn Fn() -> Timestamp + Send + Sync;
pub(crate) type Spawner = dyn Fn(Task) + Send + Sync;
/// What is left to do when a delivery is dropped.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Sees to it that a delivery which arrives several times is processed once: claim, then confirm or release.
///
/// A claim is held for a lease. Confirmed, its id is a duplicate for the retention; released, or once the lease has run out, the next
/// delivery of the id is processed.
///
/// This is at least once, with duplicates held back, and no more can be had: whoever does the work and ends before it confirms has it
/// done again. Where an effect must happen once, store the id with it, in one transaction.
///
/// A clone is the same one.
///
/// ```
/// use tollgate_core::Timestamp;
/// # use tollgate_memory::MemoryStore;
/// use tollgate_webhook::{Begin, Deliveries, DeliveryId, OnClaimOutage};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let clock = || Timestamp::from_unix_ms(1_764_547_200_000);
/// let deliveries = Deliveries::builder("github", MemoryStore::new(), OnClaimOutage::ProcessAnyway, clock).build()?;
///
/// let id = DeliveryId::try_new("72d3162e-cc78-11e3-81ab-4c9367dc0958")?;
/// let Begin::First(delivery) = deliveries.begin("17", &id).await else { panic!("it is new") };
/// assert!(matches!(deliveries.begin("17", &id).await, Begin::Running { .. }));
/// delivery.confirm().await?;
/// assert!(matches!(deliveries.begin("17", &id).await, Begin::Duplicate));
/// // The same event of another hook is another delivery.
/// assert!(matches!(deliveries.begin("18", &id).await, Begin::First(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Deliveries {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) claims: Arc<dyn Claims>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) terms: Terms,
    pub(crate) spawner: Option<Arc<Spawner>>,
}

/// What is held, for how long, and under which key.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) name: OwnedName,
    pub(crate) lease: Window,
    pub(crate) retention: Window,
    pub(crate) on_outage: OnClaimOutage,
    /// What literal keys begin with, in the simple mode.
    pub(crate) simple: Option<Box<str>>,
}

/// What to do with a delivery when it cannot be told whether it is the first.
///
/// The enum is exhaustive on purpose, and there is no default: only the endpoint knows which mistake is the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnClaimOutage {
    /// Process it, perhaps twice; logged. For work that may be repeated, and for senders that send once, such as GitHub.
    ProcessAnyway,
    /// Refuse it. Only for senders that come again by themselves: with others it is lost.
    Unavailable,
}

/// What to do with a delivery: exhaustive, since every caller has to answer each.
#[derive(Debug)]
#[must_use]
pub enum Begin {
    /// It is to be processed, and then confirmed or released.
    First(Delivery),
    /// Another request is processing it.
    Running {
        /// When that ends at the latest, unless it is renewed: until then nobody knows whether it will succeed.
        until: Timestamp,
    },
    /// It was processed.
    Duplicate,
    /// It cannot be told, and [`OnClaimOutage::Unavailable`] says to refuse it then. Or the scope is none, or the store refuses what it is
    /// asked, which are faults of the program and never let through: a [`Misuse`](StoreErrorKind::Misuse).
    Unavailable(StoreError),
}

impl Deliveries {
    /// How long a claim is held if nobody says otherwise: five minutes.
    pub const LEASE: Window = Window::from_ms(300_000);
    /// How long a confirmed id is remembered if nobody says otherwise: seven days, more than twice what GitHub and Stripe deliver
    /// again within.
    pub const RETENTION: Window = Window::WEEK;
    /// How long the simple mode remembers an id.
    pub const SIMPLE_RETENTION: Window = Window::DAY;

    /// Sets up the deliveries of one endpoint, under a name that its keys begin with: lower-case words, as a policy's.
    ///
    /// `clock` says the time: `move || guard.now()`, or `|| SystemClock.now()`.
    pub fn builder(
        name: impl Into<String>,
        claims: impl Claims,
        on_outage: OnClaimOutage,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> DeliveriesBuilder {
        DeliveriesBuilder::new(name.into(), Arc::new(claims), Arc::new(clock), on_outage)
    }

    pub(crate) fn from_parts(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Claims a delivery, for a hook or a project: one id may be sent to several of those, and GitHub's belongs to the event.
    ///
    /// Call it once for each request that arrives, after its signature was checked: else anyone could use up ids. Call it before
    /// anything is counted: a duplicate must not spend a quota.
    ///
    /// A scope has no line breaks and no other control characters: it is part of a line in a [ticket](DeliveryTicket).
    pub async fn begin(&self, scope: &str, id: &DeliveryId) -> Begin {
        if !is_scope(scope) {
            return Begin::Unavailable(StoreError::misuse(
                "the scope of a delivery holds a line break or another control character: leave them out",
            ));
        }
        let delivery = Delivery::new(self.held(scope.into(), id.clone(), ClaimToken::new(random_id()), true));
        let claimed = delivery.held().claim().await;
        match claimed {
            Ok(Claimed::Ours { .. }) => Begin::First(delivery),
            Ok(Claimed::Running { until }) => {
                delivery.forget();
                // The simple mode has one mark for both.
                if self.shared.terms.simple.is_some() { Begin::Duplicate } else { Begin::Running { until } }
            }
            Ok(Claimed::Done) => {
                delivery.forget();
                Begin::Duplicate
            }
            Err(error) if error.kind() == StoreErrorKind::Misuse => Begin::Unavailable(error),
            Err(error) => match self.on_outage() {
                OnClaimOutage::ProcessAnyway => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        endpoint = self.name(),
                        "a delivery is processed although it cannot be told whether it is the first"
                    );
                    Begin::First(delivery.unclaimed())
                }
                OnClaimOutage::Unavailable => {
                    // The claim may have been made: dropped, the delivery releases it.
                    drop(delivery);
                    Begin::Unavailable(error)
                }
            },
        }
    }

    /// Goes on with a delivery that was handed over by [`Delivery::hand_over`], in this process or in another.
    ///
    /// Its lease has gone on meanwhile: [`Delivery::renew`] says whether it is still held.
    pub fn take_over(&self, ticket: DeliveryTicket) -> Delivery {
        let DeliveryTicket { scope, id, token, is_claimed } = ticket;
        Delivery::new(self.held(scope, id, token, is_claimed))
    }

    /// Holds the claim of this ticket for another lease from now on: see [`Delivery::renew`].
    ///
    /// # Errors
    /// If the store could not; the lease goes on as it was.
    pub async fn renew(&self, ticket: &DeliveryTicket) -> Result<Hold, StoreError> {
        let DeliveryTicket { scope, id, token, is_claimed } = ticket.clone();
        self.held(scope, id, token, is_claimed).renew().await
    }

    fn held(&self, scope: Box<str>, id: DeliveryId, token: ClaimToken, is_claimed: bool) -> Held {
        let place = Arc::new(Place::new(scope, id, &self.shared.terms));
        Held { shared: Arc::clone(&self.shared), place, token, is_claimed }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.shared.clock)()
    }

    /// The name that its keys begin with.
    #[must_use]
    pub fn name(&self) -> &str {
        self.shared.terms.name.as_name().as_str()
    }

    /// What happens when it cannot be told whether a delivery is the first.
    #[must_use]
    pub fn on_outage(&self) -> OnClaimOutage {
        self.shared.terms.on_outage
    }
}

impl fmt::Debug for Deliveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deliveries")
            .field("terms", &self.shared.terms)
            .field("claims", &self.shared.claims)
            .finish_non_exhaustive()
    }
}

/// Whether a scope is one line of text.
pub(crate) fn is_scope(text: &str) -> bool {
    !text.contains(|sign: char| sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}'))
}
