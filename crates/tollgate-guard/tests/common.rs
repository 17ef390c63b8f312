//! A store that can be made to fail, to wait and to count its calls; and the lines that are logged.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tollgate_guard::{Limit, ManualClock, OnOutage, Policy, StoreErrorKind, Window};
use tollgate_memory::MemoryStore;
use tollgate_store::{Decisions, Forget, Settle, Store, StoreError, Take};

pub(crate) const NOON: u64 = 1_700_000_040_000;

pub(crate) const ASK: Policy<2> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny);
pub(crate) const ASK_ALL: Policy<0> =
    Policy::new("ask-all", Limit::fixed(5_000, Window::DAY), OnOutage::Deny);
pub(crate) const LOOKUP: Policy<1> = Policy::new("lookup", Limit::fixed(3, Window::HOUR), OnOutage::Allow);

#[derive(Debug, Default)]
pub(crate) struct Moody {
    inner: MemoryStore,
    fails: Mutex<Option<StoreErrorKind>>,
    waits: AtomicBool,
    takes: AtomicUsize,
    settles: AtomicUsize,
    loses_answers: AtomicBool,
    settles_later: AtomicBool,
    needs_a_runtime: AtomicBool,
    slow: Mutex<Option<(ManualClock, Duration)>>,
}

impl Moody {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// From now on every call fails this way, or works again.
    pub(crate) fn fail(&self, kind: Option<StoreErrorKind>) {
        *self.fails.lock().unwrap() = kind;
    }

    /// From now on nothing is answered at once.
    pub(crate) fn wait(&self) {
        self.waits.store(true, Ordering::SeqCst);
    }

    /// From now on that much time passes on this clock before a take fails.
    pub(crate) fn fail_after(&self, clock: &ManualClock, time: Duration) {
        *self.slow.lock().unwrap() = Some((clock.clone(), time));
    }

    /// From now on, or no more, what is settled is settled and the answer is lost.
    pub(crate) fn lose_answers(&self, lose: bool) {
        self.loses_answers.store(lose, Ordering::SeqCst);
    }

    /// From now on settlements are waited for, whatever takes are.
    pub(crate) fn settle_later(&self) {
        self.settles_later.store(true, Ordering::SeqCst);
    }

    /// From now on a settlement panics where there is no runtime.
    pub(crate) fn need_a_runtime(&self) {
        self.needs_a_runtime.store(true, Ordering::SeqCst);
    }

    /// How many settlements were sent.
    pub(crate) fn settles(&self) -> usize {
        self.settles.load(Ordering::SeqCst)
    }

    pub(crate) fn takes(&self) -> usize {
        self.takes.load(Ordering::SeqCst)
    }

    fn mood(&self) -> Result<(), StoreError> {
        match *self.fails.lock().unwrap() {
            Some(kind) => {
                Err(StoreError::new(kind, "the test says so").caused_by(io::Error::other("the cause")))
            }
            None => Ok(()),
        }
    }

    fn answer(&self, take: &Take<'_>) -> Result<Decisions, StoreError> {
        self.takes.fetch_add(1, Ordering::SeqCst);
        if let (Err(error), Some((clock, time))) = (self.mood(), &*self.slow.lock().unwrap()) {
            clock.advance(*time);
            return Err(error);
        }
        self.mood()?;
        self.inner.take(take)
    }
}

#[async_trait]
impl Store for Moody {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        (!self.waits.load(Ordering::SeqCst)).then(|| self.answer(take))
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.answer(&take)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        if self.needs_a_runtime.load(Ordering::SeqCst) {
            let _panics = tokio::runtime::Handle::current();
        }
        if self.waits.load(Ordering::SeqCst) || self.settles_later.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        self.settles.fetch_add(1, Ordering::SeqCst);
        self.mood()?;
        Store::settle(&self.inner, settle).await?;
        if self.loses_answers.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Timeout, "the answer is lost"));
        }
        Ok(())
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        self.mood()?;
        Store::forget(&self.inner, forget).await
    }
}

/// What was logged in this thread while it was alive.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    pub(crate) fn capture() -> (Self, tracing::subscriber::DefaultGuard) {
        let lines = Self::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .without_time()
            .with_max_level(tracing::Level::TRACE)
            .finish();
        (lines, tracing::subscriber::set_default(subscriber))
    }

    pub(crate) fn read(&self) -> Vec<String> {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap().lines().map(str::to_owned).collect()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
