//! The layer that puts a guard in front of a service.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Response, StatusCode, request};
use tollgate_guard::{Charges, Guard};
use tollgate_store::Store;
use tower_layer::Layer;

use crate::{GuardService, Refused, Rejection, config::Config};

/// Puts a [`Guard`] in front of a service: each request is charged, and what is refused never reaches the service.
///
/// `charges` says what a request costs from its head; a request whose charges cannot be told gets the [`Rejection`] as its
/// answer. The body is not read: a handler that must read it first uses [`admit`](crate::admit()).
///
/// - A refusal is a response, with the fields and the problem body of [`Refused`]. The service's error type stays as it is.
/// - Responses of requests that went on carry `RateLimit-Policy` and `RateLimit`, with the figures of the moment of the check.
///   They are appended: layers may be stacked, and a handler may add its own.
/// - Where the store answers at once, nothing is boxed. Else the check is one boxed future, and the service that was ready
///   waits with it.
/// - A request is charged once, whether the handler fails or the client goes away.
///
/// The response's body must be one that [`Bytes`] turn into (`axum::body::Body`, `http_body_util::Full<Bytes>`): put layers
/// that change the body's type outside of this one.
///
/// All clones share one configuration. What is given here is called through a pointer, which keeps `GuardLayer<S>` and
/// `GuardService<I, S>` types that can be written down.
///
/// ```
/// use std::{convert::Infallible, sync::Arc};
/// use bytes::Bytes;
/// use http::{Method, Request, Response};
/// use http_body_util::Full;
/// use tollgate_guard::{Charges, Guard, Limit, OnOutage, Policy, Window};
/// use tollgate_http::GuardLayer;
/// # use tollgate_memory::MemoryStore;
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// const ASK_ALL: Policy<0> = Policy::new("ask-all", Limit::fixed(1, Window::DAY), OnOutage::Deny);
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let guard = Arc::new(Guard::builder(MemoryStore::new()).policy(ASK_ALL).build()?);
/// let limit = GuardLayer::new(guard, |_head| Ok(Charges::from(ASK_ALL.charge(()))))
///     .skip(|head| head.method == Method::OPTIONS)
///     .refund_on(|status| status.is_server_error());
/// let service = ServiceBuilder::new().layer(limit).service(service_fn(|_: Request<()>| async {
///     Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("the answer")))
/// }));
///
/// let first = service.clone().oneshot(Request::new(())).await?;
/// assert_eq!((first.status().as_u16(), &first.headers()["ratelimit-policy"]), (200, &r#""ask-all";q=1;w=86400"#.parse()?));
/// let second = service.oneshot(Request::new(())).await?;
/// assert_eq!(second.status(), 429);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a layer does nothing until it is put on a service"]
pub struct GuardLayer<S = Arc<dyn Store>> {
    config: Arc<Config<S>>,
}

impl<S> GuardLayer<S> {
    /// A layer that charges each request what `charges` says.
    pub fn new(
        guard: Arc<Guard<S>>,
        charges: impl Fn(&request::Parts) -> Result<Charges, Rejection> + Send + Sync + 'static,
    ) -> Self {
        Self { config: Arc::new(Config::new(guard, Arc::new(charges))) }
    }

    /// Lets requests by, uncharged and with no fields, of which `skip` is true. A second call replaces the first.
    pub fn skip(mut self, skip: impl Fn(&request::Parts) -> bool + Send + Sync + 'static) -> Self {
        self.config_mut().skip = Some(Arc::new(skip));
        self
    }

    /// Answers refusals with this response: a page, another JSON.
    ///
    /// The fields of the refusal are added where the response lacks them: see [`Refused::apply`]. [`Rejection`]s are answers of your
    /// own already and go out as they are.
    pub fn on_refusal<B: Into<Bytes>>(
        mut self,
        respond: impl Fn(&Refused, &request::Parts) -> Response<B> + Send + Sync + 'static,
    ) -> Self {
        self.config_mut().on_refusal =
            Some(Arc::new(move |refused, head| respond(refused, head).map(Into::into)));
        self
    }

    /// Gives the charge back if the service answers with a status of which `refund` is true.
    ///
    /// The response waits for it, and its fields still show the figures before. If it fails, a warning is logged, the charge
    /// stays spent and the response goes out all the same. An error of the service has no status, and a client that has gone gets
    /// no response: their charges stay.
    pub fn refund_on(mut self, refund: impl Fn(StatusCode) -> bool + Send + Sync + 'static) -> Self {
        self.config_mut().refund_on = Some(Arc::new(refund));
        self
    }

    /// Adds the older `X-RateLimit-*` too: see [`Passed::with_legacy_fields`](crate::Passed::with_legacy_fields).
    pub fn with_legacy_fields(mut self) -> Self {
        self.config_mut().legacy = true;
        self
    }

    /// Copies the configuration only if the layer was cloned or used before.
    fn config_mut(&mut self) -> &mut Config<S> {
        Arc::make_mut(&mut self.config)
    }
}

impl<I, S> Layer<I> for GuardLayer<S> {
    type Service = GuardService<I, S>;

    fn layer(&self, inner: I) -> GuardService<I, S> {
        GuardService::new(inner, Arc::clone(&self.config))
    }
}

impl<S> Clone for GuardLayer<S> {
    fn clone(&self) -> Self {
        Self { config: Arc::clone(&self.config) }
    }
}

impl<S: fmt::Debug> fmt::Debug for GuardLayer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardLayer").field("config", &self.config).finish()
    }
}
