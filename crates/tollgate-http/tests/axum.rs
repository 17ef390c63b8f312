//! A real router: who calls, what a handler returns, what is refused.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{ConnectInfo, FromRef, State, connect_info::MockConnectInfo},
    http::{Request, StatusCode},
    response::Response,
    routing::{get, post},
};
use common::{ASK, BURST, Mode, TinyStore, guard};
use serde_json::Value;
use tollgate_guard::{Charges, Guard};
use tollgate_http::{Caller, GuardLayer, NoCaller, Passed, Refused, Rejection, admit};
use tollgate_visitor::{OnUntrusted, VisitorError, VisitorSource};
use tower::ServiceExt;

#[derive(Clone)]
struct App {
    source: Arc<VisitorSource>,
    guard: Arc<Guard<TinyStore>>,
}

impl FromRef<App> for Arc<VisitorSource> {
    fn from_ref(app: &App) -> Self {
        Self::clone(&app.source)
    }
}

/// Needs the body before it knows what to charge.
async fn ask(
    State(app): State<App>,
    Caller(visitor): Caller,
    question: String,
) -> Result<(Passed, String), Refused> {
    let cost = u64::from(!question.is_empty());
    let charges = [BURST.charge(&visitor).cost(cost), ASK.charge(&visitor).cost(cost)];
    let passed = admit(app.guard.check(&charges).await, app.guard.now())?;
    Ok((passed, format!("{question} indeed")))
}

async fn whoami(Caller(visitor): Caller) -> String {
    visitor.key().to_owned()
}

/// A handler's own refusal to charge.
async fn pay() -> Rejection {
    Rejection::problem(StatusCode::PAYMENT_REQUIRED, "pay first")
}

fn app(mode: Mode, source: VisitorSource) -> Router {
    let (guard, _) = guard(mode);
    let source = Arc::new(source);
    let of_layer = Arc::clone(&source);
    let limit = GuardLayer::new(Arc::clone(&guard), move |head| {
        let Caller(visitor) = Caller::of(head, &of_layer)?;
        Ok(Charges::from(ASK.charge(&visitor)))
    });
    Router::new()
        .route("/layered", get(whoami).layer(limit))
        .route("/ask", post(ask))
        .route("/whoami", get(whoami))
        .route("/pay", get(pay))
        .with_state(App { source, guard })
}

fn from(path: &str, peer: &str, header: Option<&str>) -> Request<Body> {
    let mut request = Request::builder().uri(path);
    if let Some(value) = header {
        request = request.header("cf-connecting-ip", value);
    }
    let mut request = request.body(Body::empty()).unwrap();
    if let Ok(peer) = peer.parse::<SocketAddr>() {
        request.extensions_mut().insert(ConnectInfo(peer));
    }
    request
}

fn question(peer: &str) -> Request<Body> {
    let mut request = from("/ask", peer, None);
    *request.method_mut() = "POST".parse().unwrap();
    *request.body_mut() = Body::from("why");
    request
}

async fn text(response: Response) -> String {
    String::from_utf8(to_bytes(response.into_body(), 1 << 16).await.unwrap().to_vec()).unwrap()
}

async fn problem(response: Response, status: u16) -> Value {
    assert_eq!(response.status(), status);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let problem: Value = serde_json::from_str(&text(response).await).unwrap();
    assert_eq!(problem["status"], status);
    problem
}

#[tokio::test]
async fn a_layer_on_a_route_counts_its_callers() {
    for mode in [Mode::Now, Mode::Later] {
        let app = app(mode, VisitorSource::peer().build().unwrap());
        // Two addresses of one network, then two spellings of one address: one visitor each.
        for [first, second] in
            [["[2001:db8::1]:1", "[2001:db8::2]:2"], ["203.0.113.7:1", "[::ffff:203.0.113.7]:2"]]
        {
            for (peer, status) in [(first, 200), (second, 200), (first, 429), (second, 429)] {
                let response = app.clone().oneshot(from("/layered", peer, None)).await.unwrap();
                assert_eq!(response.status(), status, "{peer}");
                assert_eq!(response.headers()["ratelimit-policy"], r#""ask";q=2;w=86400"#);
                assert_eq!(response.headers().contains_key("retry-after"), status == 429);
            }
        }
        let response = app.clone().oneshot(from("/layered", "203.0.113.8:1", None)).await.unwrap();
        assert_eq!(text(response).await, "203.0.113.8");
    }
}

#[tokio::test]
async fn a_handler_that_reads_the_body_first_answers_the_same() {
    let app = app(Mode::Later, VisitorSource::peer().build().unwrap());
    for left in [1, 0] {
        let response = app.clone().oneshot(question("203.0.113.7:1")).await.unwrap();
        assert_eq!(response.status(), 200);
        let expected = format!(r#""ask-burst";r={};t=59, "ask";r={left};t=86399"#, 18 + left);
        assert_eq!(response.headers()["ratelimit"], expected);
        assert_eq!(text(response).await, "why indeed");
    }
    let response = app.oneshot(question("203.0.113.7:1")).await.unwrap();
    assert_eq!(response.headers()["retry-after"], "86399");
    assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=18;t=59, "ask";r=0;t=86399"#);
    let problem = problem(response, 429).await;
    assert_eq!(problem["violated-policies"], serde_json::json!(["ask"]));
}

#[tokio::test]
async fn h9_a_missing_peer_says_how_to_provide_it() {
    let app = app(Mode::Now, VisitorSource::peer().build().unwrap());
    for path in ["/whoami", "/layered"] {
        let response = app.clone().oneshot(from(path, "", None)).await.unwrap();
        let problem = problem(response, 500).await;
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("into_make_service_with_connect_info::<SocketAddr>()"), "{detail}");
    }
    let (head, ()) = Request::new(()).into_parts();
    let error: NoCaller = Caller::of(&head, &VisitorSource::peer().build().unwrap()).unwrap_err();
    assert_eq!(error.reason(), VisitorError::NoPeerAddress);
    assert!(error.to_string().contains("into_make_service_with_connect_info"));

    // The peer that axum's tests pretend is one.
    let peer = SocketAddr::from(([203, 0, 113, 7], 1));
    let response = app.layer(MockConnectInfo(peer)).oneshot(from("/whoami", "", None)).await.unwrap();
    assert_eq!(text(response).await, "203.0.113.7");
}

#[tokio::test]
async fn what_a_header_says_is_not_repeated() {
    let app = app(Mode::Now, VisitorSource::cloudflare().any_peer().build().unwrap());
    for path in ["/whoami", "/layered"] {
        let response = app.clone().oneshot(from(path, "127.0.0.1:1", Some("203.0.113.777"))).await.unwrap();
        let problem = problem(response, 400).await.to_string();
        assert!(problem.contains("no address") && !problem.contains("203.0.113"), "{problem}");
        // The proxy forgot it: not the client's fault.
        let response = app.clone().oneshot(from(path, "127.0.0.1:1", None)).await.unwrap();
        assert_eq!(response.status(), 500);
    }
}

#[tokio::test]
async fn a_peer_that_is_rejected_is_forbidden() {
    let source =
        VisitorSource::cloudflare().trusted_peers(["198.51.100.0/24"]).on_untrusted(OnUntrusted::Reject);
    let app = app(Mode::Now, source.build().unwrap());
    let response = app.oneshot(from("/whoami", "203.0.113.7:1", Some("192.0.2.1"))).await.unwrap();
    let problem = problem(response, 403).await.to_string();
    assert!(!problem.contains("192.0.2.1") && !problem.contains("203.0.113"), "{problem}");
}

#[tokio::test]
async fn a_rejection_is_an_answer() {
    let app = app(Mode::Now, VisitorSource::peer().build().unwrap());
    let response = app.oneshot(from("/pay", "203.0.113.7:1", None)).await.unwrap();
    assert_eq!(problem(response, 402).await["title"], "Payment Required");
}

#[tokio::test]
async fn a_pass_alone_is_an_empty_answer() {
    use axum::response::IntoResponse;
    let (guard, _) = guard(Mode::Now);
    let passed = admit(guard.check_now(&[ASK.charge("a")]).unwrap(), guard.now()).unwrap();
    let response = passed.into_response();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["ratelimit"], r#""ask";r=1;t=86399"#);
}
