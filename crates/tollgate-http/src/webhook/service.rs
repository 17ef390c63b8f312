//! A service that gets genuine deliveries, each once.

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tollgate_webhook::Hold;
use tower_service::Service;

use super::{Ending, admission::First, config::Config, hand_over::Held};

/// A service that gets genuine deliveries, each once, made by a [`WebhookLayer`](crate::WebhookLayer).
#[derive(Clone)]
pub struct WebhookService<I> {
    inner: I,
    config: Arc<Config>,
}

impl<I> WebhookService<I> {
    pub(super) const fn new(inner: I, config: Arc<Config>) -> Self {
        Self { inner, config }
    }

    /// The service behind it.
    pub const fn inner(&self) -> &I {
        &self.inner
    }
}

impl<I, ReqBody, ResBody> Service<Request<ReqBody>> for WebhookService<I>
where
    I: Service<Request<ReqBody>, Response = Response<ResBody>> + Clone + Send + 'static,
    I::Future: Send,
    I::Error: Send,
    ReqBody: Body + From<Bytes> + Send + 'static,
    ReqBody::Data: Send,
    ReqBody::Error: Into<Box<dyn Error + Send + Sync>>,
    ResBody: From<Bytes> + Send + 'static,
{
    type Response = Response<ResBody>;
    type Error = I::Error;
    type Future = WebhookFuture<ResBody, I::Error>;

    /// Always ready: the service behind it is asked once there is something to do.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), I::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        let (config, inner) = (Arc::clone(&self.config), self.inner.clone());
        WebhookFuture(Box::pin(serve(config, inner, request)))
    }
}

async fn serve<I, ReqBody, ResBody>(
    config: Arc<Config>,
    mut inner: I,
    request: Request<ReqBody>,
) -> Result<Response<ResBody>, I::Error>
where
    I: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ReqBody: Body + From<Bytes> + Send,
    ReqBody::Data: Send,
    ReqBody::Error: Into<Box<dyn Error + Send + Sync>>,
    ResBody: From<Bytes>,
{
    let (mut head, body) = request.into_parts();
    let First { delivery, received, body } = match config.admit(&head, body).await {
        Ok(first) => first,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    head.extensions.insert(received);
    let answer = match poll_fn(|cx| inner.poll_ready(cx)).await {
        Ok(()) => inner.call(Request::from_parts(head, ReqBody::from(body))).await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(mut response) => {
            let by_status = if response.status().is_success() { Ending::Confirm } else { Ending::Release };
            let ending = response.extensions_mut().remove().unwrap_or(by_status);
            end(&delivery, ending).await;
            Ok(response)
        }
        Err(error) => {
            end(&delivery, Ending::Release).await;
            Err(error)
        }
    }
}

/// The answer goes out whatever comes of this: the work is done, or it is not.
async fn end(held: &Held, ending: Ending) {
    // Handed over, it is for others to end.
    let Some(delivery) = held.end() else { return };
    let id = delivery.id().clone();
    let ended = match ending {
        Ending::Confirm => delivery.confirm().await,
        Ending::Release => delivery.release().await.map(|()| Hold::Ours),
        Ending::HandOver => {
            let _ticket = delivery.hand_over();
            Ok(Hold::Ours)
        }
    };
    match ended {
        Ok(Hold::Ours) => {}
        Ok(Hold::Lost) => {
            tracing::warn!(%id, "a delivery was no longer held when it was done: it may have been processed twice");
        }
        Err(error) => {
            let error = &error as &dyn Error;
            tracing::warn!(error, %id, "a delivery could not be confirmed or released: it is tried once more");
        }
    }
}

impl<I: fmt::Debug> fmt::Debug for WebhookService<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookService").field("inner", &self.inner).field("config", &self.config).finish()
    }
}

/// The answer of a [`WebhookService`], to come.
#[must_use = "futures do nothing unless polled"]
pub struct WebhookFuture<ResBody, E>(Pin<Box<dyn Future<Output = Result<Response<ResBody>, E>> + Send>>);

impl<ResBody, E> Future for WebhookFuture<ResBody, E> {
    type Output = Result<Response<ResBody>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<ResBody, E> fmt::Debug for WebhookFuture<ResBody, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookFuture(..)")
    }
}
