//! What the tests here share.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use tollgate_core::{Limit, Timestamp, Window};
use tollgate_store::{Charge, Decisions, Forget, Key, Name, Part, Settle, Store, StoreError, Take};

pub(crate) const NOON: Timestamp = Timestamp::from_unix_ms(1_700_000_000_000);
pub(crate) const LIMIT: Limit = Limit::fixed(3, Window::MINUTE);

pub(crate) fn key<'a>(parts: &'a [Part<'a>]) -> Key<'a> {
    Key::new(Name::new("ask"), parts)
}

pub(crate) fn charge<'a>(parts: &'a [Part<'a>]) -> Charge<'a> {
    Charge::new(key(parts), LIMIT)
}

/// A store that decides every take as the first, and counts its calls; or never answers.
#[derive(Debug, Default)]
pub(crate) struct Stub {
    pub(crate) is_mute: bool,
    pub(crate) calls: AtomicU32,
}

impl Stub {
    pub(crate) fn mute() -> Self {
        Self { is_mute: true, ..Self::default() }
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    async fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.is_mute {
            std::future::pending::<()>().await;
        }
    }
}

fn decide(take: &Take<'_>) -> Result<Decisions, StoreError> {
    Decisions::decide(take, take.charges.iter().map(|_| None), |_, _| ())
}

#[async_trait]
impl Store for Stub {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        (!self.is_mute).then(|| decide(take))
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.called().await;
        decide(&take)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        self.called().await;
        settle.check()
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.called().await;
        forget.check()
    }
}
