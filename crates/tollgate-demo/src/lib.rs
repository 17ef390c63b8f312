//! A documentation site whose expensive paths are metered by Tollgate.
//!
//! This crate is wiring: configuration, a store, the guard with its [policies], and the [router]. What it serves is real: asking
//! searches the site's own pages, runs rebuild the index, publishing makes it live.
//!
//! It never holds what a user of the library would want: that belongs in a crate of its own.
//!
//! ```
//! use std::sync::Arc;
//! use tollgate_demo::{App, Config, router};
//! use tollgate_guard::ManualClock;
//! use tollgate_memory::MemoryStore;
//!
//! let clock = ManualClock::at_unix_ms(1_700_000_000_000);
//! let store = Arc::new(MemoryStore::new());
//! let app = App::new(Config::development()?, store.clone(), store, clock.clone())?;
//! let service = router(app);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activity;
mod ahead;
mod allowance;
mod answer;
mod app;
mod config;
mod fault;
mod http_client;
mod input;
mod jobs;
mod live;
mod log;
mod metering;
mod pages;
mod passages;
pub mod policies;
mod problem;
mod push;
mod routes;
mod search;
mod session;
mod site;
mod visiting;
mod worker;

pub use ahead::Ahead;
pub use answer::{Model, ModelConfigError};
pub use app::{App, AppError};
pub use config::{Command, Config, ConfigError, HELP};
pub use fault::{Faulty, Switch};
pub use jobs::{JobsAt, JobsError};
pub use pages::{Page, Pages, PagesError};
pub use routes::router;

pub(crate) use http_client::http_client;
pub(crate) use input::{Body, LONGEST_BODY, Name, Question};
pub(crate) use search::Found;
pub(crate) use session::Session;
pub(crate) use site::{Listing, Site, Summary};
pub(crate) use visiting::Visiting;
