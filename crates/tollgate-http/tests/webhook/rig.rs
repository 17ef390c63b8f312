//! A route on a store, and requests to it.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, request};
use http_body_util::Full;
use tokio::{sync::Notify, task::JoinHandle};
use tollgate_guard::{Clock as _, Guard, Limit, ManualClock, OnOutage, Policy, Window};
use tollgate_http::{Ending, Received, WebhookLayer, admit};
use tollgate_memory::MemoryStore;
use tollgate_redis::RedisStore;
use tollgate_store::{Claims, Store};
use tollgate_testbed::{RedisServer, RestApi, TOKEN};
use tollgate_upstash::{Credentials, UpstashStore};
use tollgate_webhook::{Deliveries, GithubSecrets, OnClaimOutage};
use tower::{Layer as _, ServiceExt as _, service_fn, util::BoxCloneService};

use crate::faulty::Faulty;

pub(crate) const BODY: &str = r#"{"ref":"refs/heads/main"}"#;
const PATIENT: Duration = Duration::from_secs(20);

/// A store, and what it needs while it is used.
pub(crate) struct Stand {
    pub(crate) claims: Faulty,
    counts: Arc<dyn Store>,
    /// Ends before the server that it asks.
    _gateway: Option<RestApi>,
    kept: Kept,
}

enum Kept {
    InMemory(Arc<MemoryStore>),
    OnRedis(RedisServer),
}

impl Stand {
    pub(crate) fn memory() -> Self {
        let store = Arc::new(MemoryStore::new());
        Self::new(Arc::clone(&store), None, Kept::InMemory(store))
    }

    pub(crate) fn redis() -> Self {
        let server = RedisServer::start();
        let store = RedisStore::builder(&server.url()).deadline(PATIENT).build().unwrap();
        Self::new(Arc::new(store), None, Kept::OnRedis(server))
    }

    pub(crate) fn upstash() -> Self {
        let server = RedisServer::start();
        let gateway = RestApi::start(&server);
        let credentials = Credentials::new(&gateway.url(), TOKEN).unwrap();
        let store = UpstashStore::builder(credentials).deadline(PATIENT).build().unwrap();
        Self::new(Arc::new(store), Some(gateway), Kept::OnRedis(server))
    }

    fn new<S: Store + Claims>(store: Arc<S>, gateway: Option<RestApi>, kept: Kept) -> Self {
        let counts: Arc<dyn Store> = Arc::<S>::clone(&store);
        Self { claims: Faulty::new(store), counts, _gateway: gateway, kept }
    }

    /// How many claims are kept.
    pub(crate) fn keys(&self) -> usize {
        match &self.kept {
            Kept::InMemory(store) => store.stats().claims,
            Kept::OnRedis(server) => {
                server.keys().iter().filter(|key| key.starts_with("limit:%:claim:")).count()
            }
        }
    }

    /// The server, to be killed and started again.
    pub(crate) fn server(&mut self) -> &mut RedisServer {
        match &mut self.kept {
            Kept::InMemory(_) => panic!("memory is no server"),
            Kept::OnRedis(server) => server,
        }
    }

    pub(crate) fn rig(&self, on_outage: OnClaimOutage) -> Rig {
        Rig::new(self.claims.clone(), Arc::clone(&self.counts), on_outage)
    }
}

/// How many updates a day may run.
pub(crate) const UPDATES: Policy<0> = Policy::new("updates", Limit::fixed(2, Window::DAY), OnOutage::Allow);

/// A route for GitHub's webhooks whose service does what a request's header `x-act` says.
#[derive(Clone)]
pub(crate) struct Rig {
    pub(crate) clock: ManualClock,
    /// What the service asks before it works, if it is told to be capped: on the store of the claims.
    cap: Arc<Guard>,
    pub(crate) deliveries: Deliveries,
    pub(crate) secrets: GithubSecrets,
    /// What is left to do in the background.
    spawned: Arc<Mutex<Vec<JoinHandle<()>>>>,
    /// How often the service was called.
    runs: Arc<AtomicUsize>,
    /// Lets a service go on that stalls.
    pub(crate) go_on: Arc<Notify>,
    pub(crate) started: Arc<Notify>,
}

/// An error of the service's own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the service is broken")
    }
}

impl std::error::Error for Broken {}

impl Rig {
    fn new(claims: impl Claims, counts: Arc<dyn Store>, on_outage: OnClaimOutage) -> Self {
        let clock = ManualClock::at_unix_ms(1_796_040_000_000);
        let (now, spawned) = (clock.clone(), Arc::<Mutex<Vec<JoinHandle<()>>>>::default());
        let spawns = Arc::clone(&spawned);
        let deliveries = Deliveries::builder("github", claims, on_outage, move || now.now())
            .spawner(move |task| spawns.lock().unwrap().push(tokio::spawn(task)))
            .build()
            .unwrap();
        let secrets = GithubSecrets::new(["It's a Secret to Everybody"]).unwrap();
        let cap = Guard::builder(counts).policy(UPDATES).clock(clock.clone()).build().unwrap();
        Self {
            clock,
            cap: Arc::new(cap),
            deliveries,
            secrets,
            spawned,
            runs: Arc::default(),
            go_on: Arc::default(),
            started: Arc::default(),
        }
    }

    /// Waits for all that goes on in the background.
    pub(crate) async fn settled(&self) {
        loop {
            let Some(task) = self.spawned.lock().unwrap().pop() else { return };
            task.await.unwrap();
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    pub(crate) fn layer(&self) -> WebhookLayer {
        WebhookLayer::github(self.secrets.clone(), self.deliveries.clone())
    }

    /// The service behind a layer.
    pub(crate) fn behind(
        &self,
        layer: &WebhookLayer,
    ) -> BoxCloneService<Request<Full<Bytes>>, Response<Full<Bytes>>, Broken> {
        let rig = self.clone();
        BoxCloneService::new(layer.layer(service_fn(move |request: Request<Full<Bytes>>| {
            let rig = rig.clone();
            async move { rig.serve(request).await }
        })))
    }

    async fn serve(&self, request: Request<Full<Bytes>>) -> Result<Response<Full<Bytes>>, Broken> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let received = request.extensions().get::<Received>().unwrap().clone();
        let act = request.headers().get("x-act").map_or("done", |act| act.to_str().unwrap());
        let mut response = Response::new(Full::from(received.ticket().to_string()));
        *response.status_mut() = match act {
            "done" => StatusCode::OK,
            "fail" => StatusCode::INTERNAL_SERVER_ERROR,
            "capped" => match admit(self.cap.check(&[UPDATES.charge(())]).await, self.cap.now()) {
                Ok(_) => StatusCode::OK,
                Err(refused) => refused.status(),
            },
            "later" | "hand-over" => StatusCode::ACCEPTED,
            "bad-but-done" => StatusCode::UNPROCESSABLE_ENTITY,
            "break" => return Err(Broken),
            "panic" => panic!("a handler panics"),
            "stall" => {
                self.started.notify_one();
                self.go_on.notified().await;
                StatusCode::OK
            }
            "queue" => {
                let _queued = received.hand_over();
                StatusCode::INTERNAL_SERVER_ERROR
            }
            "queue-and-panic" => {
                let _queued = received.hand_over();
                panic!("a handler panics")
            }
            "queue-and-stall" => {
                let _queued = received.hand_over();
                self.started.notify_one();
                self.go_on.notified().await;
                StatusCode::OK
            }
            "queue-in-vain" => {
                let _not_queued = received.hand_over();
                received.take_back();
                StatusCode::SERVICE_UNAVAILABLE
            }
            "queue-elsewhere" => {
                let (started, go_on) = (Arc::clone(&self.started), Arc::clone(&self.go_on));
                let elsewhere = tokio::spawn(async move {
                    let _not_queued = received.hand_over();
                    started.notify_one();
                    go_on.notified().await;
                    received.take_back();
                });
                self.spawned.lock().unwrap().push(elsewhere);
                self.started.notified().await;
                StatusCode::ACCEPTED
            }
            other => panic!("nobody knows how to {other}"),
        };
        match act {
            "later" => drop(response.extensions_mut().insert(Ending::Release)),
            "hand-over" => drop(response.extensions_mut().insert(Ending::HandOver)),
            "bad-but-done" => drop(response.extensions_mut().insert(Ending::Confirm)),
            _ => {}
        }
        Ok(response)
    }

    /// A genuine request.
    pub(crate) fn request(&self, id: &str, act: &str) -> Request<Full<Bytes>> {
        self.head(id, act).body(Full::from(BODY)).unwrap()
    }

    pub(crate) fn head(&self, id: &str, act: &str) -> request::Builder {
        Request::post("/webhooks/github")
            .header("x-github-delivery", id)
            .header("x-github-event", "push")
            .header("x-github-hook-id", "17")
            .header("x-hub-signature-256", self.secrets.sign(BODY.as_bytes()))
            .header("x-act", act)
    }

    /// Sends a genuine request; gives back the status.
    pub(crate) async fn send(&self, id: &str, act: &str) -> u16 {
        self.answer(self.request(id, act)).await.status().as_u16()
    }

    pub(crate) async fn answer(&self, request: Request<Full<Bytes>>) -> Response<Full<Bytes>> {
        self.behind(&self.layer()).oneshot(request).await.unwrap()
    }
}
