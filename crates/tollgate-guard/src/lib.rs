//! Policies, what happens when the store is gone, and the guard that applies both.
//!
//! A [`Policy`] is a limit with a name and a failure mode; a [`Guard`] applies several to one request, all or nothing, on one
//! store. A check never fails: its [`Outcome`] says go ahead, wait, or unavailable. [`Limiter`] is the short form for one policy and
//! a text.
//!
//! It never knows HTTP or a backend. The only file of the project that reads the wall clock is here, behind [`Clock`].
//!
//! ```
//! use tollgate_guard::{Guard, Limit, OnOutage, Outcome, Policy, Window};
//! use tollgate_memory::MemoryStore;
//!
//! const ASK: Policy<2> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny);
//! const ASK_ALL: Policy<0> = Policy::new("ask-all", Limit::fixed(5_000, Window::DAY), OnOutage::Deny);
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let guard = Guard::builder(MemoryStore::new()).policy(ASK).policy(ASK_ALL).build()?;
//!
//! // One atomic take: what one of them refuses is charged to none.
//! let charges = [ASK.charge(("docs", "203.0.113.7")), ASK_ALL.charge(())];
//! let Outcome::Allow(pass) = guard.check(&charges).await else { panic!("15 a day") };
//! assert_eq!(pass.decisions()[0].decision().remaining(), 14);
//! # Ok::<(), tollgate_guard::GuardError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Budgets
//!
//! What a model's answer costs is known when it ends. [`Guard::reserve`] takes an estimate by the same path as a check;
//! [`Reservation::note`] says what is used so far, and [`Reservation::settle`] gives back the rest or charges the excess as a debt, in
//! the window it was taken in. Units are integers: tokens, or millionths of a currency unit.
//!
//! ```
//! # use std::sync::Arc;
//! # use tollgate_guard::{Guard, Limit, OnOutage, Outcome, Policy, Window};
//! # use tollgate_memory::MemoryStore;
//! const TOKENS: Policy<1> = Policy::new("tokens", Limit::fixed(50_000, Window::DAY), OnOutage::Deny).warn_at(80);
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let guard = Arc::new(Guard::builder(MemoryStore::new()).policy(TOKENS).build()?);
//! let outcome = guard.reserve(&[TOKENS.charge("acme").estimate(2_000)]).await;
//! assert_eq!(outcome.warnings().count(), 0); // below 80 %
//! let Outcome::Allow(reservation) = outcome else { panic!("50,000 a day") };
//! reservation.note_more(120); // while it is streamed
//! reservation.settle(310).await?; // what the bill says
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A reservation that is dropped is settled to what was noted; where nothing was, it stays spent until its window ends. On a store
//! that has to be waited for, that needs a [spawner](GuardBuilder::spawner).
//!
//! # When the store is gone
//!
//! Each policy says what then: [`OnOutage::Allow`] lets the request through uncounted, [`OnOutage::Deny`] refuses it,
//! [`OnOutage::Local`] counts on this machine against a share. In one check any `Deny` refuses; `Local` charges are counted locally;
//! `Allow` ones are skipped; shadows do not vote. The beginning and the end of an outage are logged through `tracing`, not each
//! request.
//!
//! # Features
//!
//! `tokio` adds `Guard::until_allowed`, which waits on Tokio's timer, and `tokio_spawner`, which settles dropped reservations on
//! Tokio.

mod account;
mod builder;
mod charge;
mod clock;
mod guard;
mod limiter;
mod on_outage;
mod outage_log;
mod outcome;
mod policy;
mod refund;
mod reservation;
mod spawner;
mod stats;
#[cfg(feature = "tokio")]
mod wait;

pub use builder::{GuardBuilder, GuardError};
pub use charge::{Charges, PolicyCharge};
pub use clock::{Clock, ManualClock, SystemClock};
pub use guard::Guard;
pub use limiter::{LimitResult, Limiter, LimiterError};
pub use on_outage::{OnOutage, Share, ShareError};
pub use outcome::{Outage, OutageReason, Outcome, Pass, PolicyDecision, Refusal};
pub use policy::{AnyPolicy, MOST_PARTS, OwnedPolicy, Policy, PolicyError, PolicyName};
pub use reservation::{Reservation, Unsettled};
pub use spawner::SettleTask;
#[cfg(feature = "tokio")]
pub use spawner::tokio_spawner;
pub use stats::Stats;

pub use tollgate_core::{
    Charging, Decision, Limit, LimitError, ParseLimitError, Timestamp, Units, UnitsError, Verdict, Window,
    WindowError,
};
pub use tollgate_store::{
    KeyPart, KeyParts, MOST_CHARGES, Name, NameError, Part, Store, StoreError, StoreErrorKind, Subject,
};
