//! The four limits of a question as the site once counted them: refused requests too.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use tollgate_demo::{Config, policies};
use tollgate_guard::Charging;
use tollgate_memory::MemoryStore;
use tollgate_store::{Decisions, Forget, Settle, Store, StoreError, Take};
use tollgate_visitor::VisitorSource;

use crate::support::TestSite;

/// Counts the calls that reach a store.
#[derive(Debug)]
struct Counting {
    inner: MemoryStore,
    takes: AtomicU64,
}

#[async_trait]
impl Store for Counting {
    fn take_now(&self, take: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        self.takes.fetch_add(1, Ordering::SeqCst);
        self.inner.take_now(take)
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        self.takes.fetch_add(1, Ordering::SeqCst);
        Store::take(&self.inner, take).await
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        Store::settle(&self.inner, settle).await
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        Store::forget(&self.inner, forget).await
    }
}

#[tokio::test]
async fn seventeen_takes_on_fifteen_leave_minus_two_and_are_one_call_each() {
    let store = Arc::new(Counting { inner: MemoryStore::new(), takes: AtomicU64::new(0) });
    let site = TestSite::with(Config::development().unwrap(), Arc::clone(&store) as Arc<dyn Store>);
    let source = VisitorSource::peer().build().unwrap();
    let visitor = source.identify(&axum::http::HeaderMap::new(), Some([203, 0, 113, 7].into())).unwrap();
    let charges =
        policies::ask("docs", &visitor, site.app.tokens()).map(|charge| charge.charging(Charging::Always));

    let mut last = None;
    for n in 1..=17 {
        let outcome = site.app.guard().check(&charges[..4]).await;
        assert_eq!(outcome.is_allowed(), n <= 15);
        assert_eq!(store.takes.load(Ordering::SeqCst), n, "one call each");
        last = Some(outcome);
    }
    let last = last.unwrap();
    let figures: Vec<_> = last
        .decisions()
        .iter()
        .map(|said| (&**said.policy(), said.decision().used().get(), said.decision().left()))
        .collect();
    assert_eq!(
        figures,
        [("ask-burst", 17, 3), ("ask", 17, -2), ("ask-site", 17, 483), ("ask-all", 17, 4_983)]
    );
}

#[tokio::test]
async fn a_question_is_one_call() {
    let store = Arc::new(Counting { inner: MemoryStore::new(), takes: AtomicU64::new(0) });
    let site = TestSite::with(Config::development().unwrap(), Arc::clone(&store) as Arc<dyn Store>);
    let body = serde_json::json!({ "project": "docs", "question": "What is a key?" });
    for n in 1..=16 {
        site.send("POST", "/api/ask", "203.0.113.7", Some(&body)).await;
        assert_eq!(store.takes.load(Ordering::SeqCst), n);
    }
}
