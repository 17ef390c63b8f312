//! The layer in front of services that watch how they are called.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{
    convert::Infallible,
    fmt,
    future::{Future, Ready, ready},
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use common::{ASK, BURST, Mode, SLIDING, TinyStore, ask, guard};
use http::{Method, Request, Response, StatusCode, header, request};
use http_body_util::{BodyExt, Full};
use tollgate_guard::{Charges, Clock, Guard, ManualClock, Stats};
use tollgate_http::{GuardFuture, GuardLayer, GuardService, Rejection};
use tollgate_store::Store;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

type Body = Full<Bytes>;

/// Answers with a status, counts its calls, and insists that exactly the instance that was ready is called.
#[derive(Debug)]
struct Strict {
    status: StatusCode,
    is_ready: bool,
    calls: Arc<AtomicU32>,
}

impl Strict {
    fn new(status: StatusCode) -> Self {
        Self { status, is_ready: false, calls: Arc::default() }
    }
}

/// A clone has yet to become ready.
impl Clone for Strict {
    fn clone(&self) -> Self {
        Self { status: self.status, is_ready: false, calls: Arc::clone(&self.calls) }
    }
}

/// Neither `Send` nor anything but itself: nothing may box or convert it.
#[derive(Debug, PartialEq)]
struct OwnError(std::rc::Rc<str>);

impl Service<Request<()>> for Strict {
    type Response = Response<Body>;
    type Error = OwnError;
    type Future = Ready<Result<Response<Body>, OwnError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OwnError>> {
        self.is_ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        assert!(std::mem::take(&mut self.is_ready), "called before it was ready");
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.status == StatusCode::IM_A_TEAPOT {
            return ready(Err(OwnError("no coffee".into())));
        }
        let mut response = Response::new(Body::default());
        *response.status_mut() = self.status;
        ready(Ok(response))
    }
}

/// Holds a place from when it is ready until it is called or dropped.
#[derive(Debug, Default)]
struct Places {
    taken: Arc<()>,
    place: Option<Arc<()>>,
}

impl Clone for Places {
    fn clone(&self) -> Self {
        Self { taken: Arc::clone(&self.taken), place: None }
    }
}

impl Service<Request<()>> for Places {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.place.get_or_insert_with(|| Arc::clone(&self.taken));
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        self.place = None;
        ready(Ok(Response::default()))
    }
}

fn visitor(head: &request::Parts) -> Result<Charges, Rejection> {
    match head.headers.get("visitor").and_then(|value| value.to_str().ok()) {
        Some("nobody") => Ok(Charges::none()),
        Some(visitor) => Ok(ask(visitor)),
        None => Err(Rejection::problem(StatusCode::UNAUTHORIZED, "say who you are")),
    }
}

fn request(visitor: &str) -> Request<()> {
    Request::builder().header("visitor", visitor).body(()).unwrap()
}

async fn call<S>(service: &mut S, request: Request<()>) -> Response<Body>
where
    S: Service<Request<()>, Response = Response<Body>, Error: fmt::Debug>,
{
    service.ready().await.unwrap().call(request).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

fn used(guard: &Guard<TinyStore>, visitor: &str) -> u64 {
    guard.store().set(Mode::Now);
    guard.check_now(&[ASK.charge(visitor).cost(0)]).unwrap().decisions()[0].decision().used().get()
}

#[tokio::test]
async fn what_is_refused_never_reaches_the_service() {
    for mode in [Mode::Now, Mode::Later] {
        let (guard, clock) = guard(mode);
        let strict = Strict::new(StatusCode::OK);
        let mut service = GuardLayer::new(guard, visitor).layer(strict.clone());
        for left in [1, 0] {
            let response = call(&mut service, request("a")).await;
            assert_eq!(response.status(), 200);
            assert_eq!(response.headers()["ratelimit-policy"], r#""ask-burst";q=20;w=60, "ask";q=2;w=86400"#);
            let expected = format!(r#""ask-burst";r={};t=59, "ask";r={left};t=86399"#, 18 + left);
            assert_eq!(response.headers()["ratelimit"], expected);
        }
        for _ in 0..3 {
            let response = call(&mut service, request("a")).await;
            assert_eq!(response.status(), 429, "{mode:?}");
            assert_eq!(response.headers()[header::RETRY_AFTER], "86399");
            assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=18;t=59, "ask";r=0;t=86399"#);
            assert!(text(response).await.contains(r#""violated-policies":["ask"]"#));
        }
        assert_eq!(strict.calls.load(Ordering::SeqCst), 2);
        // Another visitor has its own count, and the day after all have.
        assert_eq!(call(&mut service, request("b")).await.status(), 200);
        clock.advance(Duration::from_secs(86_400));
        assert_eq!(call(&mut service, request("a")).await.status(), 200);
        assert_eq!(strict.calls.load(Ordering::SeqCst), 4);
    }
}

#[tokio::test]
async fn what_is_refused_holds_no_place_in_the_service() {
    for mode in [Mode::Now, Mode::Later] {
        let (guard, _) = guard(mode);
        let mut service = GuardLayer::new(guard, visitor).layer(Places::default());
        let idle = Arc::strong_count(&service.inner().taken);
        for (request, status) in [
            (request("a"), 200),
            (request("a"), 200),
            (request("a"), 429),
            (Request::new(()), 401),
            (request("nobody"), 200),
        ] {
            assert_eq!(call(&mut service, request).await.status(), status);
            assert_eq!(Arc::strong_count(&service.inner().taken), idle, "{mode:?} {status}");
        }
    }
}

#[tokio::test]
async fn an_outage_is_a_503_and_a_wrong_check_a_500() {
    let (guard, _) = guard(Mode::Fail);
    let strict = Strict::new(StatusCode::OK);
    let mut service = GuardLayer::new(Arc::clone(&guard), visitor).layer(strict.clone());
    let response = call(&mut service, request("a")).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()[header::RETRY_AFTER]),
        (503, &"60".parse().unwrap())
    );

    let twice = |_: &request::Parts| Ok(Charges::from([ASK.charge("a"), ASK.charge("a")]));
    guard.store().set(Mode::Now);
    let mut service = GuardLayer::new(Arc::clone(&guard), twice).layer(strict.clone());
    assert_eq!(call(&mut service, request("a")).await.status(), 500);
    assert_eq!(strict.calls.load(Ordering::SeqCst), 0);

    // A policy that lets through in an outage does.
    let chat = |_: &request::Parts| Ok(Charges::from(SLIDING.charge(())));
    guard.store().set(Mode::Fail);
    let mut service = GuardLayer::new(guard, chat).layer(strict.clone());
    let response = call(&mut service, request("a")).await;
    assert_eq!((response.status().as_u16(), response.headers().len()), (200, 0));
}

#[tokio::test]
async fn the_services_error_is_its_own() {
    for mode in [Mode::Now, Mode::Later] {
        let (guard, _) = guard(mode);
        let layer = GuardLayer::new(Arc::clone(&guard), visitor).refund_on(|_| true);
        let service = layer.layer(Strict::new(StatusCode::IM_A_TEAPOT));
        let error: OwnError = service.oneshot(request("a")).await.unwrap_err();
        assert_eq!(error, OwnError("no coffee".into()));
        assert_eq!(used(&guard, "a"), 1, "an error has no status: its charge stays");
    }
}

#[tokio::test]
async fn a_request_without_charges_to_tell_gets_its_rejection() {
    let (guard, _) = guard(Mode::Now);
    let strict = Strict::new(StatusCode::OK);
    let layer = GuardLayer::new(Arc::clone(&guard), visitor).on_refusal(|_, _| Response::new("refused"));
    let mut service = layer.layer(strict.clone());
    let response = call(&mut service, Request::new(())).await;
    assert_eq!(response.status(), 401);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    assert_eq!(text(response).await, r#"{"title":"Unauthorized","status":401,"detail":"say who you are"}"#);
    assert_eq!((strict.calls.load(Ordering::SeqCst), guard.stats()), (0, Stats::default()));

    // Any response is one.
    let own = |_: &request::Parts| Err(Response::builder().status(402).body("pay first").unwrap().into());
    let response = call(&mut GuardLayer::new(guard, own).layer(strict), Request::new(())).await;
    assert_eq!((response.status().as_u16(), text(response).await.as_str()), (402, "pay first"));
}

#[test]
fn a_detail_is_escaped() {
    let rejection = Rejection::problem(StatusCode::BAD_REQUEST, "\"a\"\\\n\u{1f600}\u{0}");
    let body: serde_json::Value =
        serde_json::from_slice(&rejection.into_response::<Vec<u8>>().into_body()).unwrap();
    assert_eq!(body["detail"], "\"a\"\\\n\u{1f600}\u{0}");
}

#[tokio::test]
async fn a_refusal_may_look_otherwise() {
    for mode in [Mode::Now, Mode::Later] {
        let (guard, _) = guard(mode);
        let layer = GuardLayer::new(guard, visitor).on_refusal(|refused, head| {
            let names: Vec<_> = refused.refusal().unwrap().refusing().map(|said| &**said.policy()).collect();
            Response::builder()
                .status(420)
                .header(header::RETRY_AFTER, "7")
                .body(format!("{} {}", head.method, names.join(" ")))
                .unwrap()
        });
        let mut service = layer.layer(Strict::new(StatusCode::OK));
        for _ in 0..2 {
            assert_eq!(call(&mut service, request("a")).await.status(), 200);
        }
        let response = call(&mut service, request("a")).await;
        assert_eq!(response.status(), 420);
        assert_eq!(response.headers()[header::RETRY_AFTER], "7");
        assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=18;t=59, "ask";r=0;t=86399"#);
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
        assert_eq!(text(response).await, "GET ask");
    }
}

#[tokio::test]
async fn some_requests_pass_by_uncharged() {
    for mode in [Mode::Now, Mode::Later, Mode::Fail] {
        let (guard, _) = guard(mode);
        let layer = GuardLayer::new(Arc::clone(&guard), visitor).skip(|head| head.method == Method::OPTIONS);
        let mut service = layer.layer(Strict::new(StatusCode::OK));
        let mut options = request("a");
        *options.method_mut() = Method::OPTIONS;
        let response = call(&mut service, options).await;
        assert_eq!((response.status().as_u16(), response.headers().len()), (200, 0));
        // So does one that nothing limits, whatever the store does.
        let response = call(&mut service, request("nobody")).await;
        assert_eq!((response.status().as_u16(), response.headers().len()), (200, 0));
        assert_eq!(used(&guard, "a"), 0);
    }
}

#[tokio::test]
async fn a_charge_is_given_back_by_status() {
    for mode in [Mode::Now, Mode::Later] {
        for (status, spent) in [(StatusCode::BAD_GATEWAY, 0), (StatusCode::OK, 1), (StatusCode::NOT_FOUND, 1)]
        {
            let (guard, _) = guard(mode);
            let layer =
                GuardLayer::new(Arc::clone(&guard), visitor).refund_on(|status| status.is_server_error());
            let mut service = layer.layer(Strict::new(status));
            let response = call(&mut service, request("a")).await;
            assert_eq!(response.status(), status);
            assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=19;t=59, "ask";r=1;t=86399"#);
            assert_eq!(used(&guard, "a"), spent, "{mode:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_refund_that_fails_is_logged_and_the_response_goes_out() {
    let (guard, _) = guard(Mode::Unsettled);
    let layer = GuardLayer::new(Arc::clone(&guard), visitor).refund_on(|status| status.is_server_error());
    let mut service = layer.layer(Strict::new(StatusCode::BAD_GATEWAY));
    let log = Log::default();
    let response = {
        let _on = tracing::subscriber::set_default(log.clone());
        call(&mut service, request("203.0.113.7")).await
    };
    assert_eq!(response.status(), 502);
    assert_eq!(used(&guard, "203.0.113.7"), 1);
    let lines = log.0.lock().unwrap().clone();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("stays spent") && lines[0].contains("settles nothing"), "{lines:?}");
    assert!(!lines[0].contains("203.0.113"), "{lines:?}");
}

#[tokio::test]
async fn a_client_that_goes_away_is_charged_once() {
    let (guard, _) = guard(Mode::Now);
    let layer = GuardLayer::new(Arc::clone(&guard), visitor).refund_on(|_| true);
    let never = service_fn(|_: Request<()>| std::future::pending::<Result<Response<Body>, Infallible>>());
    let mut service = layer.layer(never);
    {
        let mut gone = pin!(service.ready().await.unwrap().call(request("a")));
        assert!(gone.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(used(&guard, "a"), 1);
}

#[tokio::test]
async fn waits_are_told_from_the_moment_of_the_answer() {
    let (guard, clock) = guard(Mode::Later);
    let mut service = GuardLayer::new(guard, visitor).layer(Strict::new(StatusCode::OK));
    for status in [200, 200, 429] {
        let mut answer = pin!(service.ready().await.unwrap().call(request("a")));
        assert!(answer.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        // The store takes its time.
        clock.advance(Duration::from_secs(2));
        let response = answer.await.unwrap();
        assert_eq!(response.status(), status);
        let until = 86_399 - (guard_seconds(&clock) - common::START_MS / 1_000);
        assert!(response.headers()["ratelimit"].to_str().unwrap().ends_with(&format!(";t={until}")));
        if status == 429 {
            assert_eq!(response.headers()[header::RETRY_AFTER], until.to_string());
        }
    }
}

fn guard_seconds(clock: &ManualClock) -> u64 {
    clock.now().unix_ms() / 1_000
}

#[tokio::test]
async fn stacked_layers_add_to_one_list() {
    let (guard, _) = guard(Mode::Now);
    let outer = GuardLayer::new(Arc::clone(&guard), |_| Ok(BURST.charge("a").into())).with_legacy_fields();
    let inner = GuardLayer::new(guard, |_| Ok(ASK.charge("a").into())).with_legacy_fields();
    let mut service = ServiceBuilder::new().layer(outer).layer(inner).service(Strict::new(StatusCode::OK));
    for status in [200, 200, 429] {
        let response = call(&mut service, request("a")).await;
        assert_eq!(response.status(), status);
        let policies: Vec<_> = response.headers().get_all("ratelimit-policy").iter().collect();
        assert_eq!(policies, [r#""ask";q=2;w=86400"#, r#""ask-burst";q=20;w=60"#]);
        assert_eq!(response.headers().get_all("ratelimit").iter().count(), 2);
        // Of the older fields there is one of each, and all of one policy.
        assert_eq!(response.headers().get_all("x-ratelimit-limit").iter().collect::<Vec<_>>(), ["2"]);
    }
}

#[tokio::test]
async fn a_clone_of_a_layer_keeps_its_own_configuration() {
    let (guard, _) = guard(Mode::Now);
    let plain = GuardLayer::new(guard, visitor);
    let open = plain.clone().skip(|_| true);
    let strict = Strict::new(StatusCode::OK);
    assert!(call(&mut plain.layer(strict.clone()), request("a")).await.headers().contains_key("ratelimit"));
    assert!(!call(&mut open.layer(strict), request("a")).await.headers().contains_key("ratelimit"));
}

#[test]
fn where_the_store_answers_at_once_nothing_is_boxed() {
    let stage = |mode, times: usize| {
        let (guard, _) = guard(mode);
        let mut service = GuardLayer::new(guard, visitor).layer(Strict::new(StatusCode::OK));
        let mut last = String::new();
        for _ in 0..times {
            assert!(service.poll_ready(&mut Context::from_waker(Waker::noop())).is_ready());
            let mut future = pin!(service.call(request("a")));
            last = format!("{future:?}");
            if mode == Mode::Now {
                // One poll is the whole way.
                assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            }
        }
        last
    };
    assert_eq!(stage(Mode::Now, 1), "GuardFuture(serve)");
    assert_eq!(stage(Mode::Now, 3), "GuardFuture(answer)");
    assert_eq!(stage(Mode::Later, 1), "GuardFuture(check)");

    // The service's own future lies within.
    type Big = GuardFuture<BigService, TinyStore, ()>;
    const { assert!(size_of::<Big>() > 4_096) };
}

#[derive(Clone)]
struct BigService;

struct BigFuture {
    _inline: [u8; 4_096],
}

impl Future for BigFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

impl Service<Request<()>> for BigService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BigFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> BigFuture {
        BigFuture { _inline: [0; 4_096] }
    }
}

/// Types that can be written down, with the store chosen at compile time or at run time.
struct App {
    layer: GuardLayer<TinyStore>,
    service: GuardService<Strict, TinyStore>,
    any_store: GuardLayer,
    any_service: GuardService<Strict>,
    answer: Option<GuardFuture<Strict, TinyStore, ()>>,
}

#[tokio::test]
async fn every_type_has_a_name() {
    fn is_shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    fn is_sent<T: Send>(_: &T) {}
    let store: Arc<dyn Store> = Arc::new(TinyStore::new(Mode::Now));
    let any = Arc::new(Guard::builder(store).policies([BURST, ASK]).build().unwrap());
    let (guard, _) = guard(Mode::Now);
    let strict = Strict::new(StatusCode::OK);
    let layer = GuardLayer::new(guard, visitor);
    let any_store = GuardLayer::new(any, |_| Ok(ASK.charge("a").into()));
    let mut app = App {
        service: layer.layer(strict.clone()),
        any_service: any_store.layer(strict),
        layer,
        any_store,
        answer: None,
    };
    is_shared(&app.layer);
    is_shared(&app.service);
    is_shared(&app.any_store);
    app.service.ready().await.unwrap();
    let answer = app.answer.insert(app.service.call(request("a")));
    assert_eq!(answer.await.unwrap().status(), 200);
    assert_eq!(call(&mut app.any_service, request("a")).await.status(), 200);
    let big = GuardLayer::new(common::guard(Mode::Later).0, visitor).layer(BigService).call(request("a"));
    is_sent(&big);
    let shown = format!("{:?}{:?}{:?}", app.layer, app.service, Rejection::problem(StatusCode::OK, "a"));
    assert!(shown.contains("GuardLayer") && shown.contains("GuardService"), "{shown}");
}

/// Keeps what is logged at `WARN`.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Line(String);
        impl tracing::field::Visit for Line {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
                self.0 += &format!("{field}={value:?} ");
            }

            fn record_error(
                &mut self,
                field: &tracing::field::Field,
                value: &(dyn std::error::Error + 'static),
            ) {
                self.0 += &format!("{field}={value} ");
            }
        }
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
