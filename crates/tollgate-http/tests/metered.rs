//! A body that carries a reservation: by itself, and behind a real server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use axum::{Router, extract::State, response::Response, routing::get};
use bytes::Bytes;
use common::{Mode, START_MS, TinyStore};
use http::HeaderMap;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tollgate_guard::{Guard, Limit, ManualClock, OnOutage, Outcome, Policy, Reservation, SettleTask, Window};
use tollgate_http::{MeteredBody, admit};
use tollgate_memory::MemoryStore;
use tollgate_store::Store;

const CHATS: Policy<0> = Policy::new("chats", Limit::fixed(100, Window::DAY), OnOutage::Deny);
const TOKENS: Policy<0> = Policy::new("tokens", Limit::fixed(100_000, Window::DAY), OnOutage::Deny);
const ESTIMATE: u64 = 1_000;

type Tasks = Arc<Mutex<Vec<SettleTask>>>;
type AnyGuard = Arc<Guard<Arc<dyn Store>>>;

/// A guard, and what it was left to settle.
fn guard(store: Arc<dyn Store>) -> (AnyGuard, Tasks) {
    let tasks = Tasks::default();
    let queue = Arc::clone(&tasks);
    let guard = Guard::builder(store)
        .policy(CHATS)
        .policy(TOKENS)
        .clock(ManualClock::at_unix_ms(START_MS))
        .spawner(move |task| queue.lock().unwrap().push(task))
        .build()
        .unwrap();
    (Arc::new(guard), tasks)
}

/// One that answers at once, and one that has to be waited for.
fn stores() -> [Arc<dyn Store>; 2] {
    [Arc::new(MemoryStore::new()), Arc::new(TinyStore::new(Mode::Later))]
}

async fn reserve(guard: &AnyGuard) -> Reservation {
    let charges = [CHATS.charge(()), TOKENS.charge(()).estimate(ESTIMATE)];
    let Outcome::Allow(reservation) = guard.reserve(&charges).await else { panic!("there is budget") };
    reservation
}

/// Chats and tokens used, once everything was settled that somebody was left to settle.
async fn used(guard: &AnyGuard, tasks: &Tasks) -> [u64; 2] {
    let left = std::mem::take(&mut *tasks.lock().unwrap());
    for task in left {
        task.await;
    }
    let outcome = guard.peek(&[CHATS.charge(()), TOKENS.charge(())]).await;
    [0, 1].map(|at| outcome.decisions()[at].decision().used().get())
}

/// A guard over a store that has to be waited for, with nobody to settle what is dropped.
fn guard_without_spawner() -> AnyGuard {
    let store: Arc<dyn Store> = Arc::new(TinyStore::new(Mode::Later));
    let clock = ManualClock::at_unix_ms(START_MS);
    Arc::new(Guard::builder(store).policy(CHATS).policy(TOKENS).clock(clock).build().unwrap())
}

/// Yields its frames, then ends as it is told to.
#[derive(Debug)]
struct Script {
    frames: VecDeque<Frame<Bytes>>,
    end: End,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Whole,
    Error,
    Never,
}

impl Script {
    fn new(frames: usize, end: End) -> Self {
        let data = (0..frames).map(|_| Frame::data(Bytes::from_static(b"seven t")));
        Self { frames: data.collect(), end }
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match (self.frames.pop_front(), self.end) {
            (Some(frame), _) => Poll::Ready(Some(Ok(frame))),
            (None, End::Whole) => Poll::Ready(None),
            (None, End::Error) => Poll::Ready(Some(Err(io::Error::other("the model is gone")))),
            (None, End::Never) => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && matches!(self.end, End::Whole)
    }
}

fn meter(reservation: &Reservation, frame: &Frame<Bytes>) {
    reservation.note_more(frame.data_ref().map_or(1, |data| data.len() as u64));
}

#[tokio::test]
async fn it_is_settled_before_its_end_is_told() {
    for store in stores() {
        let (guard, tasks) = guard(store);
        let mut script = Script::new(3, End::Whole);
        script.frames.push_back(Frame::trailers(HeaderMap::new()));
        let mut body = MeteredBody::new(script, reserve(&guard).await, meter);
        for sent in [7, 14, 21, 22] {
            assert!(body.frame().await.unwrap().is_ok());
            assert!(!body.is_end_stream(), "a server would ask no more of it");
            assert_eq!(used(&guard, &tasks).await, [1, ESTIMATE], "{sent}");
        }
        assert!(body.frame().await.is_none());
        assert!(body.is_end_stream());
        assert!(tasks.lock().unwrap().is_empty(), "nothing is left to settle");
        assert_eq!(used(&guard, &tasks).await, [1, 22]);
        assert!(body.frame().await.is_none());
        drop(body);
        assert_eq!(used(&guard, &tasks).await, [1, 22], "once");
    }
}

#[tokio::test]
async fn an_error_is_told_once_it_is_settled() {
    for store in stores() {
        let (guard, tasks) = guard(store);
        let mut body = MeteredBody::new(Script::new(2, End::Error), reserve(&guard).await, meter);
        assert!(body.frame().await.unwrap().is_ok() && body.frame().await.unwrap().is_ok());
        let error = body.frame().await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the model is gone");
        assert!(tasks.lock().unwrap().is_empty(), "nothing is left to settle");
        assert!(body.frame().await.is_none());
        assert_eq!(used(&guard, &tasks).await, [1, 14]);
    }
}

#[tokio::test]
async fn a_body_that_is_dropped_is_settled_to_what_was_sent() {
    for store in stores() {
        let (guard, tasks) = guard(store);
        let mut body = MeteredBody::new(Script::new(9, End::Whole), reserve(&guard).await, meter);
        assert!(body.frame().await.unwrap().is_ok());
        drop(body);
        assert_eq!(used(&guard, &tasks).await, [1, 7]);
        // Nothing was sent, so nobody knows what it cost.
        drop(MeteredBody::new(Script::new(9, End::Whole), reserve(&guard).await, meter));
        assert_eq!(used(&guard, &tasks).await, [2, 7 + ESTIMATE]);
        // What a meter does not note is not known at the end either.
        let body = MeteredBody::new(Script::new(1, End::Whole), reserve(&guard).await, |_, _| {});
        assert!(body.collect().await.is_ok());
        assert_eq!(used(&guard, &tasks).await, [3, 7 + 2 * ESTIMATE]);
    }
}

#[tokio::test]
async fn a_store_that_settles_nothing_does_not_spoil_the_answer() {
    let store = Arc::new(TinyStore::new(Mode::Unsettled));
    let (guard, tasks) = guard(store.clone());
    let body = MeteredBody::new(Script::new(2, End::Whole), reserve(&guard).await, meter);
    assert_eq!(body.collect().await.unwrap().to_bytes().len(), 14);
    assert_eq!(tasks.lock().unwrap().len(), 1, "it is tried once more");
    store.set(Mode::Later);
    assert_eq!(used(&guard, &tasks).await, [1, 14]);
}

#[tokio::test]
async fn fields_and_reservation_are_taken_apart() {
    let (guard, tasks) = guard(Arc::new(MemoryStore::new()));
    let charges = [CHATS.charge(()), TOKENS.charge(()).estimate(ESTIMATE)];
    let passed = admit(guard.reserve(&charges).await, guard.now()).unwrap().with_legacy_fields();
    assert_eq!(passed.pass().decisions().len(), 2);
    let (passed, reservation) = passed.into_parts();
    let mut headers = HeaderMap::new();
    passed.apply(&mut headers);
    assert_eq!(headers["ratelimit"], r#""chats";r=99;t=86399, "tokens";r=99000;t=86399"#);
    assert!(headers.contains_key("x-ratelimit-limit"));
    reservation.settle(5).await.unwrap();
    assert_eq!(used(&guard, &tasks).await, [1, 5]);
    let refused = admit(guard.reserve(&[TOKENS.charge(()).estimate(100_000)]).await, guard.now());
    assert_eq!(refused.unwrap_err().status(), 429);
    let refused = admit(guard.reserve(&[TOKENS.charge(())]).await, guard.now());
    assert_eq!(refused.unwrap_err().status(), 500, "no estimate: a fault of the program");
}

/// How a handler of the real server behaves.
#[derive(Clone, Copy, Debug)]
enum Handler {
    PanicsKnowing,
    PanicsNotKnowing,
    PanicsInItsStream,
    Hangs,
    Fails,
    Answers,
    /// With a body that knows its length.
    AnswersAtOnce,
    AnswersNothing,
}

async fn chat(State((guard, handler)): State<(AnyGuard, Handler)>) -> Response {
    let reservation = reserve(&guard).await;
    let end = match handler {
        Handler::PanicsKnowing => {
            reservation.note(30);
            panic!("a handler that fails, on purpose")
        }
        Handler::PanicsNotKnowing => panic!("a handler that fails early, on purpose"),
        Handler::Hangs => End::Never,
        Handler::Fails => End::Error,
        Handler::Answers | Handler::PanicsInItsStream => End::Whole,
        Handler::AnswersAtOnce | Handler::AnswersNothing => {
            let is_empty = matches!(handler, Handler::AnswersNothing);
            let answer = if is_empty { Bytes::new() } else { Bytes::from_static(b"seven t") };
            reservation.note(0);
            return Response::new(axum::body::Body::new(MeteredBody::new(
                Full::new(answer),
                reservation,
                meter,
            )));
        }
    };
    let mut frames = 0;
    let body = MeteredBody::new(Script::new(5, end), reservation, move |reservation, frame| {
        meter(reservation, frame);
        frames += 1;
        assert!(frames < 3 || !matches!(handler, Handler::PanicsInItsStream), "on purpose");
    });
    Response::new(axum::body::Body::new(body))
}

/// Sends one request to a server of its own, reads at least so many bytes of the answer's body, goes away, and waits until the
/// server has noticed.
async fn request(guard: &AnyGuard, handler: Handler, bytes: usize) {
    let app = Router::new().route("/chat", get(chat)).with_state((Arc::clone(guard), handler));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = axum::serve(listener, app).with_graceful_shutdown(async { drop(stopped.await) });
    let server = tokio::spawn(serving.into_future());
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /chat HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    while answer.matches("seven t").count() * 7 < bytes {
        let mut buffer = [0; 256];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => answer.push_str(std::str::from_utf8(&buffer[..read]).unwrap()),
        }
    }
    drop(stream);
    drop(stop);
    server.await.unwrap().unwrap();
}

mod h8_a_handler_that_fails_or_a_client_that_goes_away_is_settled_once {
    use std::time::Duration;

    use tollgate_redis::RedisStore;
    use tollgate_testbed::{RedisServer, RestApi, TOKEN};
    use tollgate_upstash::{Credentials, UpstashStore};

    use super::*;

    const PATIENT: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn in_memory() {
        h8(Arc::new(MemoryStore::new())).await;
    }

    #[tokio::test]
    async fn on_a_store_that_is_waited_for() {
        h8(Arc::new(TinyStore::new(Mode::Later))).await;
    }

    #[tokio::test]
    async fn on_redis() {
        let server = RedisServer::start();
        h8(Arc::new(RedisStore::builder(&server.url()).deadline(PATIENT).build().unwrap())).await;
    }

    #[tokio::test]
    async fn on_upstash_through_a_gateway() {
        let server = RedisServer::start();
        let gateway = RestApi::start(&server);
        let credentials = Credentials::new(&gateway.url(), TOKEN).unwrap();
        h8(Arc::new(UpstashStore::builder(credentials).deadline(PATIENT).build().unwrap())).await;
    }

    async fn h8(store: Arc<dyn Store>) {
        let (guard, tasks) = guard(store);
        let mut tokens = 0;
        for (turn, (handler, bytes, cost)) in [
            (Handler::PanicsKnowing, usize::MAX, 30),
            (Handler::PanicsNotKnowing, usize::MAX, ESTIMATE),
            (Handler::PanicsInItsStream, usize::MAX, 21),
            (Handler::Fails, usize::MAX, 35),
            // Its stream would go on for ever.
            (Handler::Hangs, 35, 35),
            (Handler::Answers, 35, 35),
        ]
        .into_iter()
        .enumerate()
        {
            request(&guard, handler, bytes).await;
            tokens += cost;
            assert_eq!(used(&guard, &tasks).await, [turn as u64 + 1, tokens], "{handler:?}");
        }
    }
}

#[tokio::test]
async fn a_whole_answer_of_any_body_needs_no_spawner() {
    let guard = guard_without_spawner();
    let mut tokens = 0;
    for (turn, (handler, cost)) in
        [(Handler::Answers, 35), (Handler::AnswersAtOnce, 7), (Handler::AnswersNothing, 0)]
            .into_iter()
            .enumerate()
    {
        request(&guard, handler, usize::MAX).await;
        tokens += cost;
        assert_eq!(used(&guard, &Tasks::default()).await, [turn as u64 + 1, tokens], "{handler:?}");
    }
}
