//! Webhooks that are genuine and are processed once: signatures, and deliveries that are claimed, confirmed or released.
//!
//! [`GithubSecrets`], [`StandardSecrets`] and [`StripeSecrets`] say whether a request is genuine; [`Deliveries`] see to it that a delivery which arrives
//! several times is processed once, in memory or with several machines on one store. The route that puts the two together, in the
//! right order, is in `tollgate-http`.
//!
//! It never counts requests, reads a clock, or shows a secret.
//!
//! ```
//! use tollgate_guard::{Clock, SystemClock};
//! use tollgate_memory::MemoryStore;
//! use tollgate_webhook::{Begin, Deliveries, DeliveryId, GithubSecrets, OnClaimOutage};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! # async fn rebuild(_push: &[u8]) -> Result<(), std::io::Error> { Ok(()) }
//! let secrets = GithubSecrets::new(["It's a Secret to Everybody"])?;
//! let now = || SystemClock.now();
//! let deliveries = Deliveries::builder("github", MemoryStore::new(), OnClaimOutage::ProcessAnyway, now)
//!     .spawner(|task| drop(tokio::spawn(task)))
//!     .build()?;
//!
//! # let body = br#"{"ref":"refs/heads/main"}"#;
//! # let mut headers = http::HeaderMap::new();
//! # headers.insert("x-hub-signature-256", secrets.sign(body).parse()?);
//! // Of a request that came in: first whether it is genuine, then whether it is the first.
//! secrets.verify(&headers, body)?;
//! let id = DeliveryId::try_new("72d3162e-cc78-11e3-81ab-4c9367dc0958")?;
//! match deliveries.begin("17", &id).await {
//!     Begin::First(delivery) => match rebuild(body).await {
//!         Ok(()) => drop(delivery.confirm().await?),
//!         Err(_) => delivery.release().await?, // so that a redelivery is processed
//!     },
//!     Begin::Running { .. } | Begin::Duplicate => {} // 202, 200
//!     Begin::Unavailable(_) => {}                    // 503
//! }
//! # assert!(matches!(deliveries.begin("17", &id).await, Begin::Duplicate));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The order
//!
//! 1. The body, as raw bytes and no longer than you allow; what was parsed and printed again has another signature.
//! 2. The signature. Nothing is written before: else anyone could use up ids, and the real delivery would be a duplicate.
//! 3. The id, and whether this event is any of your business.
//! 4. The claim. Before anything is counted: a duplicate must not spend a quota.
//! 5. The work, a quota included. If that refuses, release: tomorrow's redelivery would be a duplicate.
//! 6. Confirm, or release.
//!
//! # What senders do
//!
//! | | GitHub | Standard Webhooks | Stripe |
//! |---|---|---|---|
//! | sends again by itself | never; somebody asks for it, within 3 days | for days, whatever is not answered with 2xx | for 3 days, the same |
//! | the id is | of the event: two hooks may send two bodies under one | of the message, the same each time | the event's, in the body |
//! | the signature covers | the body alone | the id, the time and the body | the time and the body |
//! | so claim under | hook or project, and id | the id | the id |
//! | while it is running, answer | 202 | 409 and `Retry-After`, so that it comes back if the first try fails | the same |
//! | if the store is gone | [`OnClaimOutage::ProcessAnyway`] | either | either |
//!
//! # What is promised
//!
//! At least once, with duplicates held back. A delivery is processed twice if a worker ends between its work and the confirmation, if
//! the work outlasts its lease, if the store loses the claim (a failover, an eviction), or, where that was chosen, if the store is gone.
//! What must happen once is stored with the delivery's id in one transaction.
//!
//! Two ends, since they differ by far: the lease, a little above the longest run, lets a delivery whose worker died be processed again
//! soon; the retention, above the time in which the sender delivers again, holds duplicates back.
//!
//! What is dropped is released in the background. A process that ends in good order waits for that: see
//! [`DeliveriesBuilder::spawner`].

mod builder;
mod deliveries;
mod delivery;
mod github;
mod held;
mod hex;
mod id;
mod place;
mod secret;
mod signature_error;
mod signatures;
mod standard;
mod stripe;
mod ticket;
mod time;

pub use builder::{DeliveriesBuilder, DeliveriesError};
pub use deliveries::{Begin, Deliveries, OnClaimOutage};
pub use delivery::Delivery;
pub use github::{GITHUB_DELIVERY, GITHUB_EVENT, GITHUB_HOOK, GITHUB_SIGNATURE, GithubSecrets};
pub use id::{DeliveryId, DeliveryIdError};
pub use secret::{SecretError, SecretFault};
pub use signature_error::SignatureError;
pub use standard::{StandardHeaders, StandardSecrets, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP};
pub use stripe::{STRIPE_SIGNATURE, StripeSecrets};
pub use ticket::{DeliveryTicket, TicketError};
pub use tollgate_store::Hold;
