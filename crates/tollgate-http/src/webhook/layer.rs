//! The layer that lets genuine deliveries through, each once.

use std::{fmt, sync::Arc};

use http::request;
use tollgate_guard::{Charges, Guard};
use tollgate_store::Store;
use tollgate_webhook::{Deliveries, GithubSecrets, StandardSecrets, StripeSecrets};
use tower_layer::Layer;

use super::{
    Arrival, WebhookService,
    config::{Config, Secrets},
    source_limit::Guarded,
};
use crate::Rejection;

/// Lets genuine deliveries of a webhook through to a service, each once.
///
/// | in this order | else |
/// |---|---|
/// | the announced length is within the limit | 413 |
/// | the source is within its limit, which only counts what is not genuine | 429, before the body is read |
/// | the signature's headers are there once, and well formed | 401, counted, before the body is read |
/// | the body is within the limit, and arrives whole | 413 or 400, counted |
/// | one of the secrets signed it, not long ago | 401, counted; nothing is written |
/// | the delivery has an id | 400 |
/// | the filter wants it | 200 `ignored` |
/// | the [scope](WebhookLayer::scope) is one line of text | 400 |
/// | nobody has processed it | 200 `duplicate` |
/// | nobody is processing it | 202 from GitHub, which does not come again; else 409 and `Retry-After` |
/// | the store can tell, or [`ProcessAnyway`](tollgate_webhook::OnClaimOutage::ProcessAnyway) says to go on | 503 and `Retry-After` |
///
/// The service gets the raw body, and the delivery as [`Received`](crate::Received) in the request's extensions. Its answer ends it: a status of
/// 2xx confirms, any other releases, and an [`Ending`](crate::Ending) in the response's extensions says otherwise. An error of the
/// service, a panic, and a request that is cancelled release too, the last two in the background. Work that goes on after the answer is
/// [handed over](crate::Received::hand_over). What runs in the background is the deliveries' spawner's: give them one whose tasks can be
/// [waited for](tollgate_webhook::DeliveriesBuilder::spawner) at shutdown.
///
/// Its answers are responses; the service's error type stays as it is. The service is not asked to be ready before the delivery is
/// claimed, so who sends slowly holds no place in it. Put a timeout outside of this layer: how long a body may take is not its business.
///
/// ```
/// # #[cfg(feature = "axum")] {
/// # use std::sync::Arc;
/// # use axum::{Router, body::Body, extract::Json, http::{Request, StatusCode}, routing::post};
/// # use tower::ServiceExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use tollgate_guard::{Charges, Clock, Guard, Limit, OnOutage, Policy, SystemClock, Window};
/// use tollgate_http::{Received, WebhookLayer};
/// use tollgate_webhook::{Deliveries, GithubSecrets, OnClaimOutage};
/// # use tollgate_memory::MemoryStore;
///
/// const FORGERIES: Policy<1> = Policy::new("forgeries", Limit::sliding(20, Window::MINUTE), OnOutage::Allow);
///
/// async fn on_push(received: Received, Json(push): Json<serde_json::Value>) -> StatusCode {
///     println!("{} to {}", received.id(), push["ref"]);
///     StatusCode::NO_CONTENT // 2xx: done; any other: released
/// }
///
/// let store = Arc::new(MemoryStore::new());
/// let guard = Arc::new(Guard::builder(Arc::clone(&store)).policy(FORGERIES).build()?);
/// let secrets = GithubSecrets::new(["It's a Secret to Everybody"])?;
/// let deliveries = Deliveries::builder("github", store, OnClaimOutage::ProcessAnyway, || SystemClock.now())
///     .spawner(|task| drop(tokio::spawn(task)))
///     .build()?;
/// let webhook = WebhookLayer::github(secrets.clone(), deliveries)
///     .source_limit(guard, |_head| Ok(Charges::from(FORGERIES.charge("everybody")))) // better: by visitor
///     .events(|arrival| arrival.event == Some("push"));
/// // Round the handler alone: round the whole route, a GET too would be asked for its signature.
/// let app: Router = Router::new().route("/webhooks/github", post(on_push).route_layer(webhook));
///
/// # let body = r#"{"ref":"refs/heads/main"}"#;
/// # let request = || Request::post("/webhooks/github")
/// #     .header("content-type", "application/json")
/// #     .header("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
/// #     .header("x-github-event", "push")
/// #     .header("x-hub-signature-256", secrets.sign(body.as_bytes()))
/// #     .body(Body::from(body));
/// assert_eq!(app.clone().oneshot(request()?).await?.status(), 204);
/// assert_eq!(app.clone().oneshot(request()?).await?.status(), 200); // a duplicate
/// # let other = Request::get("/webhooks/github").body(Body::empty())?;
/// # assert_eq!(app.oneshot(other).await?.status(), 405);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "a layer does nothing until it is put on a service"]
pub struct WebhookLayer {
    config: Arc<Config>,
}

impl WebhookLayer {
    /// The longest body unless told otherwise: 2 MiB. GitHub sends up to 25 MB.
    pub const BODY_LIMIT: usize = 2 * 1024 * 1024;

    /// Deliveries of GitHub, claimed by hook and id.
    pub fn github(secrets: GithubSecrets, deliveries: Deliveries) -> Self {
        Self::new(Secrets::Github(secrets), deliveries, false)
    }

    /// Deliveries of a sender that signs as Standard Webhooks says, and sends again what was not answered with 2xx.
    pub fn standard(secrets: StandardSecrets, deliveries: Deliveries) -> Self {
        Self::new(Secrets::Standard(secrets), deliveries, true)
    }

    /// Events of Stripe, which sends again what was not answered with 2xx. An event's id is the one in its body.
    pub fn stripe(secrets: StripeSecrets, deliveries: Deliveries) -> Self {
        Self::new(Secrets::Stripe(secrets), deliveries, true)
    }

    fn new(secrets: Secrets, deliveries: Deliveries, retries: bool) -> Self {
        let config = Config {
            secrets,
            deliveries,
            body_limit: Self::BODY_LIMIT,
            limit: None,
            scope: None,
            wanted: None,
            retries,
        };
        Self { config: Arc::new(config) }
    }

    /// Takes bodies of at most so many bytes. Each is held in memory, also of those that are not genuine.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.config_mut().body_limit = bytes;
        self
    }

    /// Refuses a source that has sent too much that is not genuine, before it reads the next body.
    ///
    /// `charges` says from the head what a forgery costs, as for a [`GuardLayer`](crate::GuardLayer). Genuine deliveries are not counted: a
    /// sender with few addresses for many hooks would be refused otherwise. Requests that arrive at the same time may all get in
    /// before the first is counted.
    pub fn source_limit<S: Store>(
        mut self,
        guard: Arc<Guard<S>>,
        charges: impl Fn(&request::Parts) -> Result<Charges, Rejection> + Send + Sync + 'static,
    ) -> Self {
        self.config_mut().limit = Some(Arc::new(Guarded { guard, charge: Box::new(charges) }));
        self
    }

    /// Claims deliveries for what this says: a project out of the path, for instance. Unless it is given, GitHub's are claimed for
    /// the hook's id, and those of others for the endpoint alone. A scope with a line break or another control character is answered
    /// with 400, and logged.
    pub fn scope(
        mut self,
        scope: impl Fn(&request::Parts) -> Result<String, Rejection> + Send + Sync + 'static,
    ) -> Self {
        self.config_mut().scope = Some(Arc::new(scope));
        self
    }

    /// Lets only deliveries through of which `wanted` is true; the others are answered with 200 and not claimed.
    pub fn events(mut self, wanted: impl Fn(&Arrival<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.config_mut().wanted = Some(Arc::new(wanted));
        self
    }

    /// Whether the sender sends again by itself what is not answered with 2xx. It decides the answer while a delivery is in progress.
    pub fn sender_retries(mut self, retries: bool) -> Self {
        self.config_mut().retries = retries;
        self
    }

    /// Copies the configuration only if the layer was cloned or used before.
    fn config_mut(&mut self) -> &mut Config {
        Arc::make_mut(&mut self.config)
    }
}

impl<I> Layer<I> for WebhookLayer {
    type Service = WebhookService<I>;

    fn layer(&self, inner: I) -> WebhookService<I> {
        WebhookService::new(inner, Arc::clone(&self.config))
    }
}

impl fmt::Debug for WebhookLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookLayer").field("config", &self.config).finish()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("secrets", &self.secrets)
            .field("deliveries", &self.deliveries)
            .field("body_limit", &self.body_limit)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}
