//! The site on a clock set by hand, called without a socket.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::connect_info::MockConnectInfo,
    http::{HeaderMap, Request, Response, StatusCode, header},
};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tollgate_demo::{App, Config, router};
use tollgate_guard::ManualClock;
use tollgate_memory::MemoryStore;
use tollgate_store::Store;
use tower::ServiceExt as _;

/// Midnight, so that every window of the site begins now.
/// Who sits at the server's own machine.
pub(crate) const DEVELOPER: &str = "127.0.0.1";

pub(crate) const MIDNIGHT_MS: u64 = 19_675 * 86_400_000;

/// The site, its clock, and the cookie it last set.
pub(crate) struct TestSite {
    pub(crate) app: App,
    pub(crate) clock: ManualClock,
    router: Router,
    cookie: Option<String>,
}

/// One answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl TestSite {
    pub(crate) fn new() -> Self {
        Self::with(Config::development().unwrap(), Arc::new(MemoryStore::new()))
    }

    pub(crate) fn with(config: Config, store: Arc<dyn Store>) -> Self {
        Self::behind(config, store, [127, 0, 0, 1])
    }

    /// The site as a peer of this address reaches it.
    pub(crate) fn behind(config: Config, store: Arc<dyn Store>, peer: [u8; 4]) -> Self {
        let clock = ManualClock::at_unix_ms(MIDNIGHT_MS);
        let app = App::new(config, store, Arc::new(MemoryStore::new()), clock.clone()).unwrap();
        let peer: SocketAddr = (peer, 9).into();
        let router = router(app.clone()).layer(MockConnectInfo(peer));
        Self { app, clock, router, cookie: None }
    }

    pub(crate) fn advance_seconds(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Sends a request for a visitor; a body goes out as JSON.
    pub(crate) async fn send(&self, method: &str, path: &str, visitor: &str, body: Option<&Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("cf-connecting-ip", visitor);
        if let Some(cookie) = &self.cookie {
            request = request.header(header::COOKIE, cookie);
        }
        let body = match body {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        self.send_request(request.body(body).unwrap()).await
    }

    /// Sends a request whose answer is read by and by.
    pub(crate) async fn open(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn send_request(&self, request: Request<Body>) -> Answer {
        let response = self.open(request).await;
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Signs in, and sends the cookie from now on.
    pub(crate) async fn sign_in(&mut self, org: &str) {
        let body = serde_json::json!({ "org": org });
        let answer = self.send("POST", "/api/session", "198.51.100.1", Some(&body)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let set = answer.header("set-cookie");
        assert!(
            set.contains("HttpOnly") && set.contains("SameSite=Strict") && set.contains("Path=/"),
            "{set}"
        );
        self.cookie = set.split(';').next().map(str::to_owned);
    }

    pub(crate) fn cookie(&self) -> Option<&str> {
        self.cookie.as_deref()
    }

    pub(crate) fn set_cookie(&mut self, cookie: Option<String>) {
        self.cookie = cookie;
    }

    /// Switches the store on or off, as a client does.
    pub(crate) async fn switch_store(&self, up: bool) {
        let body = serde_json::json!({ "up": up });
        let answer = self.send("PUT", "/api/store", DEVELOPER, Some(&body)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        assert_eq!(answer.json()["up"], up);
    }

    /// What `/api/limits` says of one key.
    pub(crate) async fn limit(&self, key: &str, visitor: &str) -> Value {
        let answer = self.send("GET", "/api/limits", visitor, None).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let rows = answer.json();
        rows.as_array()
            .unwrap()
            .iter()
            .find(|row| row["key"] == key)
            .unwrap_or_else(|| panic!("no {key} in {rows}"))
            .clone()
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Seconds of `Retry-After`.
    pub(crate) fn retry_after(&self) -> u64 {
        self.header("retry-after").parse().unwrap()
    }

    /// That this is a problem in JSON, of its own status.
    pub(crate) fn assert_problem(&self, status: u16) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
    }
}
