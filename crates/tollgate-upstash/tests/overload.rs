//! More calls than a service can answer, in time that passes at will.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::Instant};
use tollgate_store::{StoreError, StoreErrorKind};
use tollgate_upstash::{Credentials, Transport, TransportError, UpstashStore, UpstashStoreBuilder};

use crate::support::{TOKEN, forget};

/// A service that carries out one command after the other, each in the same time, also those that nobody waits for any more.
#[derive(Clone, Debug)]
struct Busy {
    command: Duration,
    way: Duration,
    free_at: Arc<Mutex<Instant>>,
    counted: Arc<AtomicUsize>,
    in_flight: Arc<AtomicUsize>,
    most_in_flight: Arc<AtomicUsize>,
}

impl Busy {
    /// How long one command takes, and how long a request is on its way.
    fn new(command: Duration, way: Duration) -> Self {
        let free_at = Arc::new(Mutex::new(Instant::now()));
        let (counted, in_flight, most_in_flight) = Default::default();
        Self { command, way, free_at, counted, in_flight, most_in_flight }
    }

    fn builder(&self) -> UpstashStoreBuilder {
        let credentials = Credentials::new("http://localhost", TOKEN).unwrap();
        UpstashStore::builder(credentials).transport(self.clone())
    }
}

struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Transport for Busy {
    #[expect(clippy::disallowed_methods, reason = "time that a test lets pass")]
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_in_flight.fetch_max(in_flight, Ordering::Relaxed);
        let _leave = Leave(&self.in_flight);
        let one = json!({ "result": 1 });
        let body: Value = serde_json::from_slice(request.body()).unwrap();
        let (count, answer) = match request.uri().path() {
            "/" => (1, one),
            _ => {
                let count = body.as_array().unwrap().len();
                (count, vec![one; count].into())
            }
        };
        self.counted.fetch_add(count, Ordering::Relaxed);
        let done_at = {
            let mut free_at = self.free_at.lock().unwrap();
            *free_at = (*free_at).max(Instant::now()) + self.command * u32::try_from(count).unwrap();
            *free_at
        };
        tokio::time::sleep_until(done_at + self.way).await;
        Ok(Response::new(answer.to_string().into()))
    }
}

/// What became of the calls of so many callers, who call again as soon as they are answered, and a little later if they fail.
#[derive(Debug, Default)]
struct Became {
    answered: usize,
    unsent: usize,
    failed: usize,
}

#[expect(clippy::disallowed_methods, reason = "time that a test lets pass")]
async fn load(store: &UpstashStore, callers: usize, lasts: Duration) -> Became {
    let end = Instant::now() + lasts;
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let store = store.clone();
        tasks.spawn(async move {
            let mut became = Became::default();
            while Instant::now() < end {
                match forget(&store, "a").await {
                    Ok(()) => became.answered += 1,
                    Err(error) => {
                        assert_eq!(error.kind(), StoreErrorKind::Timeout, "{error}");
                        if is_unsent(&error) {
                            became.unsent += 1;
                        } else {
                            became.failed += 1;
                        }
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
            became
        });
    }
    tasks.join_all().await.into_iter().fold(Became::default(), |sum, one| Became {
        answered: sum.answered + one.answered,
        unsent: sum.unsent + one.unsent,
        failed: sum.failed + one.failed,
    })
}

fn is_unsent(error: &StoreError) -> bool {
    error.to_string().contains("not sent, and so not counted")
}

const DEADLINE: Duration = Duration::from_millis(900);

/// A service of 1,150 calls a second, and more callers than it can answer within their deadline: it works for those who still
/// wait. (In order of arrival and without a bound, it works for a quarter of them.)
#[tokio::test(start_paused = true)]
async fn too_many_callers_leave_the_service_at_work_for_those_who_wait() {
    for (batching, callers) in [(true, 1_500), (true, 3_000), (false, 1_500)] {
        let busy = Busy::new(Duration::from_micros(870), Duration::from_millis(2));
        let store = busy.builder().deadline(DEADLINE).batching(batching).build().unwrap();
        let became = load(&store, callers, Duration::from_secs(20)).await;
        let counted = busy.counted.load(Ordering::Relaxed);
        let case = format!("batching {batching}, {callers} callers: {counted} counted, {became:?}");
        assert!(became.answered * 10 > 20 * 1_150 * 7, "{case}");
        assert!(counted * 10 < became.answered * 13, "{case}");
    }
}

/// Whoever has time enough is sent, whatever was found out before: at first, after a rest, and after one slow answer.
#[expect(clippy::disallowed_methods, reason = "time that a test lets pass")]
#[tokio::test(start_paused = true)]
async fn a_service_that_is_merely_slow_now_and_then_is_asked() {
    for batching in [true, false] {
        let busy = Busy::new(Duration::ZERO, Duration::from_millis(700));
        let store = busy.builder().deadline(DEADLINE).batching(batching).build().unwrap();
        let became = load(&store, 100, Duration::from_secs(30)).await;
        assert_eq!((became.unsent, became.failed), (0, 0), "it is far away and nothing else");
        assert!(became.answered > 100 * 40, "{became:?}");
        // One that is slow, for everybody.
        *busy.free_at.lock().unwrap() = Instant::now() + Duration::from_millis(300);
        assert_eq!(forget(&store, "a").await.unwrap_err().kind(), StoreErrorKind::Timeout);
        for rest in [0, 600] {
            tokio::time::sleep(Duration::from_secs(rest)).await;
            let became = load(&store, 100, Duration::from_secs(3)).await;
            assert_eq!((became.unsent, became.failed), (0, 0));
        }
    }
}

/// After everything has come too late, one answer in time is enough to go on.
#[expect(clippy::disallowed_methods, reason = "time that a test lets pass")]
#[tokio::test(start_paused = true)]
async fn a_service_that_stood_still_is_used_again_at_once() {
    for batching in [true, false] {
        let busy = Busy::new(Duration::from_micros(500), Duration::from_millis(5));
        let store = busy.builder().deadline(DEADLINE).batching(batching).build().unwrap();
        let _ = load(&store, 500, Duration::from_secs(1)).await;
        *busy.free_at.lock().unwrap() = Instant::now() + Duration::from_secs(10);
        let became = load(&store, 500, Duration::from_secs(9)).await;
        assert_eq!(became.answered, 0);
        assert!(became.unsent > became.failed, "most know that they were not counted: {became:?}");
        tokio::time::sleep(Duration::from_secs(2)).await;
        let _ = load(&store, 500, Duration::from_secs(3)).await;
        let became = load(&store, 500, Duration::from_secs(1)).await;
        assert_eq!((became.unsent, became.failed), (0, 0), "{became:?}");
    }
}

/// One by one, no more requests are open at once than a listener has room for.
#[tokio::test(start_paused = true)]
async fn single_requests_are_bounded_and_give_their_turn_back() {
    let busy = Busy::new(Duration::ZERO, Duration::from_millis(100));
    let store = busy.builder().deadline(Duration::from_secs(2)).batching(false).build().unwrap();
    let mut calls = JoinSet::new();
    for _ in 0..1_000 {
        let store = store.clone();
        calls.spawn(async move { forget(&store, "a").await });
    }
    while busy.counted.load(Ordering::Relaxed) < 128 {
        tokio::task::yield_now().await;
    }
    // Cancelled while they are sent, or wait for their turn.
    calls.abort_all();
    while let Some(ended) = calls.join_next().await {
        assert!(ended.unwrap_err().is_cancelled());
    }
    assert_eq!(busy.counted.load(Ordering::Relaxed), 128);
    let became = load(&store, 1_000, Duration::from_secs(3)).await;
    assert_eq!((became.unsent, became.failed), (0, 0));
    assert_eq!(busy.most_in_flight.load(Ordering::Relaxed), 128);
}
