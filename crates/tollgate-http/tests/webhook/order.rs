//! The steps before the work, each before the next.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, Bytes};
use http::{HeaderMap, Request, Response, Version, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Full};
use tollgate_guard::{
    Charges, Clock as _, Guard, Limit, ManualClock, OnOutage, Policy, Stats, Timestamp, Window,
};
use tollgate_http::{Received, Rejection, WebhookLayer};
use tollgate_memory::MemoryStore;
use tollgate_webhook::{Deliveries, OnClaimOutage, StandardSecrets, StripeSecrets};
use tower::{Layer as _, ServiceExt as _, service_fn};

use crate::rig::{BODY, Rig, Stand};

const FORGERIES: Policy<1> = Policy::new("forgeries", Limit::fixed(3, Window::MINUTE), OnOutage::Deny);

fn limited(rig: &Rig) -> WebhookLayer {
    limited_by(rig).0
}

fn limited_by(rig: &Rig) -> (WebhookLayer, Arc<Guard<MemoryStore>>) {
    let guard =
        Guard::builder(MemoryStore::new()).policy(FORGERIES).clock(rig.clock.clone()).build().unwrap();
    let guard = Arc::new(guard);
    let layer = rig.layer().source_limit(Arc::clone(&guard), |head| match head.headers.get("x-source") {
        Some(source) => Ok(Charges::from(FORGERIES.charge(source.to_str().unwrap()))),
        None => Err(Rejection::problem(http::StatusCode::FORBIDDEN, "who are you")),
    });
    (layer, guard)
}

fn from_source(rig: &Rig, id: &str, source: &str) -> Request<Full<Bytes>> {
    let mut request = rig.request(id, "done");
    request.headers_mut().insert("x-source", source.parse().unwrap());
    request
}

fn forged(rig: &Rig, source: &str) -> Request<Full<Bytes>> {
    let mut request = from_source(rig, "forged", source);
    let signature = rig.secrets.sign(b"another body");
    request.headers_mut().insert("x-hub-signature-256", signature.parse().unwrap());
    request
}

/// A body that counts how often it is asked for bytes, and has no end.
#[derive(Default)]
struct Watched(Arc<AtomicUsize>);

impl Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 1024])))))
    }
}

impl From<Bytes> for Watched {
    fn from(_: Bytes) -> Self {
        Self::default()
    }
}

async fn status_and_reads(layer: &WebhookLayer, headers: HeaderMap) -> (u16, usize) {
    let reads = Arc::new(AtomicUsize::new(0));
    let mut request = Request::post("/").body(Watched(Arc::clone(&reads))).unwrap();
    *request.headers_mut() = headers;
    let service = layer.layer(service_fn(|_: Request<Watched>| async {
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    }));
    (service.oneshot(request).await.unwrap().status().as_u16(), reads.load(Ordering::SeqCst))
}

#[tokio::test]
async fn forgeries_are_counted_and_then_refused_unread() {
    let stand = Stand::memory();
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let (layer, guard) = limited_by(&rig);
    let send = |request| rig.behind(&layer).oneshot(request);
    // Genuine deliveries count for nothing, in the statistics too.
    for id in 0..10 {
        assert_eq!(send(from_source(&rig, &format!("{id}"), "a")).await.unwrap().status(), 200);
    }
    assert_eq!(guard.stats(), Stats::default());
    for _ in 0..3 {
        assert_eq!(send(forged(&rig, "a")).await.unwrap().status(), 401);
    }
    for request in [forged(&rig, "a"), from_source(&rig, "genuine", "a")] {
        let answer = send(request).await.unwrap();
        assert_eq!(answer.status(), 429);
        assert!(answer.headers().contains_key("retry-after") && answer.headers().contains_key("ratelimit"));
    }
    let headers = from_source(&rig, "x", "a").into_parts().0.headers;
    assert_eq!(status_and_reads(&layer, headers).await, (429, 0), "nothing of the body is read");
    assert_eq!(send(from_source(&rig, "b", "b")).await.unwrap().status(), 200, "another source goes on");
    assert_eq!((rig.runs(), stand.keys()), (11, 11));
    rig.clock.advance(Duration::from_secs(60));
    assert_eq!(send(from_source(&rig, "c", "a")).await.unwrap().status(), 200);
    assert_eq!(send(rig.request("d", "done")).await.unwrap().status(), 403, "a source that cannot be told");
}

#[tokio::test]
async fn a_source_limit_that_could_count_nothing_lets_nobody_through() {
    let rig = Stand::memory().rig(OnClaimOutage::Unavailable);
    let guard = Guard::builder(MemoryStore::new()).policy(FORGERIES).clock(rig.clock.clone()).build();
    let guard = Arc::new(guard.unwrap());
    let layer = rig
        .layer()
        .source_limit(Arc::clone(&guard), |_| Ok(Charges::from(FORGERIES.charge("a").estimate(2))));
    for request in [rig.request("1", "done"), forged(&rig, "a")] {
        assert_eq!(rig.behind(&layer).oneshot(request).await.unwrap().status(), 500);
    }
    assert_eq!((rig.runs(), guard.stats().misused), (0, 2));
}

#[tokio::test]
async fn what_cannot_be_a_signature_is_refused_unread() {
    let rig = Stand::memory().rig(OnClaimOutage::Unavailable);
    let headers =
        |signature: Option<&str>| {
            let mut headers = from_source(&rig, "1", "a").into_parts().0.headers;
            headers.remove("x-hub-signature-256");
            headers.extend(signature.map(|value| {
                (header::HeaderName::from_static("x-hub-signature-256"), value.parse().unwrap())
            }));
            headers
        };
    let layer = limited(&rig);
    for signature in [None, Some("sha256=00"), Some("sha1=00")] {
        assert_eq!(status_and_reads(&layer, headers(signature)).await, (401, 0), "{signature:?}");
    }
    assert_eq!(status_and_reads(&layer, headers(None)).await, (429, 0), "each was counted");
    let standard = WebhookLayer::standard(
        StandardSecrets::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]).unwrap(),
        rig.deliveries.clone(),
    );
    let stripe = WebhookLayer::stripe(
        StripeSecrets::new(["whsec_test_secret_of_some_length"]).unwrap(),
        rig.deliveries.clone(),
    );
    for layer in [standard, stripe] {
        assert_eq!(status_and_reads(&layer, HeaderMap::new()).await, (401, 0));
    }
}

#[tokio::test]
async fn only_a_connection_of_one_request_at_a_time_is_closed() {
    let rig = Stand::memory().rig(OnClaimOutage::Unavailable);
    let layer = rig.layer().body_limit(BODY.len() - 1);
    for (version, closes) in [
        (Version::HTTP_10, true),
        (Version::HTTP_11, true),
        (Version::HTTP_2, false),
        (Version::HTTP_3, false),
    ] {
        for announces in [false, true] {
            let mut request = rig.request("1", "done");
            *request.version_mut() = version;
            if announces {
                request.headers_mut().insert("content-length", BODY.len().into());
            }
            let answer = rig.behind(&layer).oneshot(request).await.unwrap();
            assert_eq!(answer.status(), 413);
            assert_eq!(answer.headers().contains_key("connection"), closes, "{version:?}");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_not_read_to_its_end() {
    let rig = Stand::memory().rig(OnClaimOutage::Unavailable);
    let layer = limited(&rig).body_limit(10 * 1024);
    let headers = || from_source(&rig, "1", "a").into_parts().0.headers;
    let mut announced = headers();
    announced.insert("content-length", "10241".parse().unwrap());
    for _ in 0..5 {
        assert_eq!(
            status_and_reads(&layer, announced.clone()).await,
            (413, 0),
            "it costs nothing, so it is not counted"
        );
    }
    for _ in 0..3 {
        assert_eq!(status_and_reads(&layer, headers()).await, (413, 11), "one more than is allowed");
    }
    assert_eq!(status_and_reads(&layer, headers()).await, (429, 0));
    // Just as long as is allowed.
    let exact = rig.layer().body_limit(BODY.len());
    let answer = rig.behind(&exact).oneshot(rig.request("1", "done")).await.unwrap();
    assert_eq!(answer.status(), 200);
}

/// A piece of a body that is known to be kept.
struct Held {
    byte: Option<u8>,
    kept: Arc<AtomicUsize>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.kept.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Buf for Held {
    fn remaining(&self) -> usize {
        usize::from(self.byte.is_some())
    }

    fn chunk(&self) -> &[u8] {
        self.byte.as_slice()
    }

    fn advance(&mut self, count: usize) {
        if count > 0 {
            self.byte = None;
        }
    }
}

/// A body in pieces of one byte, and the most that were ever kept of them; then it ends, or breaks.
struct InPieces {
    bytes: VecDeque<u8>,
    kept: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    breaks: bool,
}

impl Body for InPieces {
    type Data = Held;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Held>, std::io::Error>>> {
        self.most.fetch_max(self.kept.load(Ordering::SeqCst), Ordering::SeqCst);
        let Some(byte) = self.bytes.pop_front() else {
            let broken = self.breaks.then(|| Err(std::io::Error::other("the client has gone")));
            return Poll::Ready(broken);
        };
        self.kept.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Held { byte: Some(byte), kept: Arc::clone(&self.kept) }))))
    }
}

impl From<Bytes> for InPieces {
    fn from(body: Bytes) -> Self {
        Self { bytes: body.to_vec().into(), kept: Arc::default(), most: Arc::default(), breaks: false }
    }
}

async fn in_pieces(
    rig: &Rig,
    layer: &WebhookLayer,
    request: Request<Full<Bytes>>,
    breaks: bool,
) -> (u16, usize) {
    let most = Arc::new(AtomicUsize::new(0));
    let body = InPieces { most: Arc::clone(&most), breaks, ..InPieces::from(Bytes::from(BODY)) };
    let service = layer.layer(service_fn(|request: Request<InPieces>| async move {
        assert_eq!(request.into_body().bytes, BODY.as_bytes());
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    }));
    let status = service.oneshot(request.map(|_| body)).await.unwrap().status().as_u16();
    assert!(rig.runs() == 0);
    (status, most.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_body_in_single_bytes_is_not_kept_in_pieces() {
    let rig = Stand::memory().rig(OnClaimOutage::Unavailable);
    assert_eq!(in_pieces(&rig, &rig.layer(), rig.request("1", "done"), false).await, (200, 0));
}

#[tokio::test]
async fn half_a_body_counts_as_a_forgery() {
    let rig = Stand::memory().rig(OnClaimOutage::Unavailable);
    let layer = limited(&rig);
    for _ in 0..3 {
        assert_eq!(in_pieces(&rig, &layer, from_source(&rig, "1", "a"), true).await.0, 400);
    }
    assert_eq!(in_pieces(&rig, &layer, from_source(&rig, "1", "a"), false).await.0, 429);
    assert_eq!(in_pieces(&rig, &layer, from_source(&rig, "1", "b"), false).await.0, 200);
}

#[tokio::test]
async fn an_id_is_there_once_and_plain() {
    let stand = Stand::memory();
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let long = "x".repeat(129);
    for name in ["x-github-delivery", "x-github-hook-id", "x-github-event"] {
        for value in ["a b", "a/b", "", "{a}", &long] {
            let mut request = rig.request("1", "done");
            request.headers_mut().insert(name, value.parse().unwrap());
            let answer = rig.answer(request).await;
            assert_eq!(answer.status(), 400, "{name}: {value}");
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert!(
                !value.contains('b') || !String::from_utf8_lossy(&body).contains(value),
                "nothing is repeated"
            );
        }
        let mut twice = rig.request("1", "done");
        twice.headers_mut().append(name, "2".parse().unwrap());
        assert_eq!(rig.answer(twice).await.status(), 400, "{name} twice");
    }
    let mut without = rig.request("1", "done");
    without.headers_mut().remove("x-github-delivery");
    assert_eq!(rig.answer(without).await.status(), 400);
    assert_eq!((rig.runs(), stand.keys()), (0, 0));
}

#[tokio::test]
async fn a_scope_is_one_line() {
    let stand = Stand::memory();
    let rig = stand.rig(OnClaimOutage::ProcessAnyway);
    for scope in ["a\nb", "\u{1b}[2J"] {
        let layer = rig.layer().scope(move |_| Ok(scope.to_owned()));
        assert_eq!(rig.behind(&layer).oneshot(rig.request("1", "done")).await.unwrap().status(), 400);
    }
    assert_eq!((rig.runs(), stand.keys()), (0, 0));
}

#[tokio::test]
async fn what_the_filter_does_not_want_is_not_claimed() {
    let stand = Stand::memory();
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let pushes = rig.layer().events(|arrival| {
        arrival.event == Some("push") && arrival.body.windows(4).any(|bytes| bytes == b"main")
    });
    let mut ping = rig.request("1", "done");
    ping.headers_mut().insert("x-github-event", "ping".parse().unwrap());
    let answer = rig.behind(&pushes).oneshot(ping.clone()).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), r#"{"delivery":"ignored"}"#);
    assert_eq!((rig.runs(), stand.keys()), (0, 0));
    let answer = rig.behind(&pushes).oneshot(rig.request("1", "done")).await.unwrap();
    assert_eq!((answer.status().as_u16(), rig.runs()), (200, 1));
    // Not even asked about what is not genuine.
    let asked = rig.layer().events(|_| panic!("it is not genuine"));
    assert_eq!(rig.behind(&asked).oneshot(forged(&rig, "a")).await.unwrap().status(), 401);
}

#[tokio::test]
async fn the_service_gets_the_raw_body_and_the_delivery() {
    let rig = Stand::memory().rig(OnClaimOutage::Unavailable);
    let service = rig.layer().layer(service_fn(|request: Request<Full<Bytes>>| async move {
        let received = request.extensions().get::<Received>().unwrap();
        assert_eq!((received.id().as_str(), received.scope(), received.event()), ("1", "17", Some("push")));
        assert!(received.is_claimed() && received.sent_at().is_none());
        assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), BODY);
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("done")))
    }));
    let answer = service.oneshot(rig.request("1", "done")).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "done");
}

#[tokio::test]
async fn a_sender_that_comes_again_is_told_when() {
    let clock = ManualClock::at_unix_ms(1_796_040_000_000);
    let now = clock.clone();
    let deliveries =
        Deliveries::builder("standard", MemoryStore::new(), OnClaimOutage::Unavailable, move || now.now());
    let deliveries = deliveries.build().unwrap();
    let secrets = StandardSecrets::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]).unwrap();
    let request = |id: &str, seconds: u64| {
        Request::post("/")
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", secrets.sign(id, seconds, BODY.as_bytes()))
            .body(Full::<Bytes>::from(BODY))
            .unwrap()
    };
    let layer = WebhookLayer::standard(secrets.clone(), deliveries.clone());
    let service = layer.layer(service_fn(|request: Request<Full<Bytes>>| async move {
        let received = request.extensions().get::<Received>().unwrap();
        assert_eq!(received.sent_at(), Some(Timestamp::from_unix_ms(1_796_040_000_000)));
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    }));
    let seconds = 1_796_040_000;
    let delivery = match deliveries.begin("", &tollgate_webhook::DeliveryId::try_new("msg_1").unwrap()).await
    {
        tollgate_webhook::Begin::First(delivery) => delivery,
        other => panic!("{other:?}"),
    };
    clock.advance(Duration::from_millis(500));
    let answer = service.clone().oneshot(request("msg_1", seconds)).await.unwrap();
    assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (409, &"300".parse().unwrap()));
    delivery.release().await.unwrap();
    assert_eq!(service.clone().oneshot(request("msg_1", seconds)).await.unwrap().status(), 200);
    // Signed long ago, and sent again now.
    for seconds in [0, seconds - 301, seconds + 302] {
        assert_eq!(
            service.clone().oneshot(request("msg_2", seconds)).await.unwrap().status(),
            401,
            "{seconds}"
        );
    }
}

#[tokio::test]
async fn an_event_of_stripe_is_known_by_its_body() {
    let stand = Stand::memory();
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let secrets = StripeSecrets::new(["whsec_test_secret_of_some_length"]).unwrap();
    let layer = WebhookLayer::stripe(secrets.clone(), rig.deliveries.clone())
        .events(|arrival| arrival.event == Some("invoice.paid"));
    let send = async |body: &'static str| {
        let value = secrets.sign(1_796_040_000, body.as_bytes());
        let request = Request::post("/").header("stripe-signature", value).body(Full::from(body)).unwrap();
        rig.behind(&layer).oneshot(request).await.unwrap().status().as_u16()
    };
    let paid = r#"{"object":"event","id":"evt_1","type":"invoice.paid"}"#;
    assert_eq!((send(paid).await, rig.runs()), (200, 1));
    assert_eq!((send(paid).await, rig.runs()), (200, 1), "a duplicate");
    assert_eq!((send(r#"{"id":"evt_2","type":"charge.failed"}"#).await, rig.runs()), (200, 1), "ignored");
    for body in
        ["", "[]", "{}", r#"{"id":7}"#, r#"{"id":""}"#, r#"{"id":"a b"}"#, r#"{"id":"a","type":"b c"}"#]
    {
        assert_eq!(send(body).await, 400, "{body}");
    }
    assert_eq!(stand.keys(), 1);
}
