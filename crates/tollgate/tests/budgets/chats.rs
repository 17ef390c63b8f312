//! Two hundred chats at once, over a real server, most of them cut off: what the store holds is what the server has counted.

use std::{
    io,
    panic::resume_unwind,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    Router,
    extract::{Query, State},
    response::Response,
    routing::get,
};
use bytes::Bytes;
use fastrand::Rng;
use futures_util::future::join_all;
use http_body::{Body, Frame};
use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tollgate::Guard;
use tollgate_http::MeteredBody;

use crate::{
    history::seed,
    place::{CHATS, MONEY, Place, Switch, allowed},
};

const CHATS_AT_ONCE: u64 = 200;

/// What becomes of one chat; it follows from its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is answered whole.
    Whole,
    /// The client goes away after some of it, and the answer would have gone on.
    Cut,
    /// The client goes away, and the model says no more.
    CutInSilence,
    /// The model fails half way.
    Error,
    /// The handler panics when it has used something, before it answers.
    Panic,
    /// Its stream panics half way.
    PanicInStream,
}

#[derive(Clone, Debug)]
struct Plan {
    fate: Fate,
    estimate: u64,
    frames: u64,
    /// Bytes in a frame.
    size: usize,
    /// How much the client reads before it goes.
    reads: usize,
}

impl Plan {
    fn of(seed: u64, chat: u64) -> Self {
        let mut rng = Rng::with_seed(seed ^ chat.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let fates =
            [Fate::Whole, Fate::Cut, Fate::CutInSilence, Fate::Error, Fate::Panic, Fate::PanicInStream];
        let fate = fates[rng.usize(..fates.len())];
        let (frames, size) = (rng.u64(1..60), rng.usize(1..4_000));
        let all = usize::try_from(frames).unwrap() * size;
        let reads =
            if matches!(fate, Fate::Cut | Fate::CutInSilence) { rng.usize(1..=all) } else { usize::MAX };
        Self { fate, estimate: rng.u64(1..5_000), frames, size, reads }
    }
}

/// The answer of a model that takes its time.
#[derive(Debug)]
struct Answer {
    plan: Plan,
    sent: u64,
    rests: bool,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.rests = !self.rests;
        if self.rests {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.sent == self.plan.frames && self.plan.fate != Fate::Cut {
            return match self.plan.fate {
                Fate::CutInSilence => Poll::Pending,
                Fate::Error => Poll::Ready(Some(Err(io::Error::other("the model is gone")))),
                _ => Poll::Ready(None),
            };
        }
        self.sent += 1;
        Poll::Ready(Some(Ok(Frame::data(vec![b'a'; self.plan.size].into()))))
    }
}

#[derive(Clone)]
struct App {
    guard: Arc<Guard<Arc<Switch>>>,
    seed: u64,
    /// The units used, as the server counts them.
    counted: Arc<AtomicU64>,
}

#[derive(Deserialize)]
struct Chat {
    chat: u64,
}

async fn chat(State(app): State<App>, Query(Chat { chat }): Query<Chat>) -> Response {
    let plan = Plan::of(app.seed, chat);
    let charges = [CHATS.charge(()), MONEY.charge(()).estimate(plan.estimate)];
    let reservation = allowed(app.guard.reserve(&charges).await);
    // Until the model says something, nothing is used, and that is known.
    reservation.note(0);
    let used = move |units| {
        app.counted.fetch_add(units, Ordering::SeqCst);
        units
    };
    if plan.fate == Fate::Panic {
        reservation.note_more(used(plan.frames));
        panic_quietly();
    }
    let mut rng = Rng::with_seed(chat);
    let (fate, half) = (plan.fate, plan.frames / 2);
    let mut frames = 0;
    let body = Answer { plan, sent: 0, rests: false };
    let body = MeteredBody::new(body, reservation, move |reservation, _| {
        reservation.note_more(used(rng.u64(1..100)));
        frames += 1;
        if fate == Fate::PanicInStream && frames >= half {
            panic_quietly();
        }
    });
    Response::new(axum::body::Body::new(body))
}

/// Panics without a word: seventy backtraces can hold a small machine up for as long as a store may take.
fn panic_quietly() -> ! {
    resume_unwind(Box::new("on purpose"))
}

/// A client that reads so much of its answer as the plan says.
async fn client(address: std::net::SocketAddr, chat: u64, plan: Plan) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /chat?chat={chat} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut read, mut buffer) = (0, vec![0; 2_048]);
    while read < plan.reads {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(some) => read += some,
        }
    }
}

pub(crate) async fn two_hundred_chats_are_settled_to_what_they_used(place: &Place) {
    let seed = seed();
    let counted = Arc::new(AtomicU64::new(0));
    let app = App { guard: Arc::clone(&place.guard), seed, counted: Arc::clone(&counted) };
    // The store's connection stays on this runtime, which is still there when the last chats are settled.
    assert!(place.guard.peek(&[CHATS.charge(())]).await.is_allowed());
    let router = Router::new().route("/chat", get(chat)).with_state(app);
    let server = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let listener = server.spawn(TcpListener::bind("127.0.0.1:0")).await.unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async { drop(stopped.await) });
    let serving = server.spawn(serving.into_future());

    let clients = (0..CHATS_AT_ONCE).map(|chat| tokio::spawn(client(address, chat, Plan::of(seed, chat))));
    join_all(clients).await.into_iter().for_each(|client| client.unwrap());
    drop(stop);
    serving.await.unwrap().unwrap();
    // The last connections are told to have ended a little before their bodies are dropped. With their runtime they are gone.
    tokio::task::spawn_blocking(move || drop(server)).await.unwrap();
    place.settle_all().await;

    let outcome = place.guard.peek(&[CHATS.charge(()), MONEY.charge(())]).await;
    let used = [0, 1].map(|at| outcome.decisions()[at].decision().used().get());
    assert_eq!(used, [CHATS_AT_ONCE, counted.load(Ordering::SeqCst)], "TOLLGATE_SEED={seed}");
}
