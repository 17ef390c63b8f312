//! The way of one request: a check if it has to be waited for, the service, a refund if one is due.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tollgate_guard::{Charges, Outcome};
use tollgate_store::Store;
use tower_service::Service;

use crate::{
    config::{Config, Entry, Receipt},
    fields::Fields,
};

pin_project! {
    /// The answer of a [`GuardService`](crate::GuardService), to come.
    #[must_use = "futures do nothing unless polled"]
    pub struct GuardFuture<I, S, ReqBody>
    where
        I: Service<Request<ReqBody>>,
    {
        #[pin]
        stage: Stage<I, S, ReqBody>,
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<I, S, ReqBody>
    where
        I: Service<Request<ReqBody>>,
    {
        /// The answer is there, and the service is not called.
        Answer { response: Option<I::Response> },
        /// The store has to be waited for.
        Check {
            check: Pin<Box<dyn Future<Output = (Outcome, Charges)> + Send>>,
            waiting: Option<Waiting<I, S, ReqBody>>,
        },
        /// The service is at work.
        Serve { #[pin] inner: I::Future, fields: Fields, receipt: Option<Box<Receipt<S>>> },
        /// The service has answered, and a charge is given back.
        Refund { refund: Pin<Box<dyn Future<Output = ()> + Send>>, response: Option<I::Response> },
    }
}

/// A request that waits for its outcome, with the service that is ready for it.
struct Waiting<I, S, ReqBody> {
    ready: I,
    request: Request<ReqBody>,
    config: Arc<Config<S>>,
}

impl<I, S, ReqBody> GuardFuture<I, S, ReqBody>
where
    I: Service<Request<ReqBody>>,
{
    pub(crate) fn answer(response: I::Response) -> Self {
        Self { stage: Stage::Answer { response: Some(response) } }
    }

    pub(crate) fn serve(inner: I::Future, entry: Entry<S>) -> Self {
        Self { stage: Stage::serve(inner, entry) }
    }

    pub(crate) fn check(config: Arc<Config<S>>, charges: Charges, ready: I, request: Request<ReqBody>) -> Self
    where
        S: Store,
    {
        let guard = Arc::clone(&config.guard);
        let check = Box::pin(async move {
            let outcome = guard.check(&charges.borrowed()).await;
            (outcome, charges)
        });
        Self { stage: Stage::Check { check, waiting: Some(Waiting { ready, request, config }) } }
    }
}

impl<I, S, ReqBody> Stage<I, S, ReqBody>
where
    I: Service<Request<ReqBody>>,
{
    fn serve(inner: I::Future, Entry { fields, receipt }: Entry<S>) -> Self {
        Self::Serve { inner, fields, receipt }
    }
}

impl<I, S, ReqBody> Waiting<I, S, ReqBody> {
    fn conclude<ResBody>(mut self, outcome: Outcome, charges: Charges) -> Stage<I, S, ReqBody>
    where
        I: Service<Request<ReqBody>, Response = Response<ResBody>>,
        S: Store,
        ResBody: From<Bytes>,
    {
        let (head, body) = self.request.into_parts();
        match self.config.conclude(outcome, self.config.guard.now(), charges, &head) {
            Ok(entry) => Stage::serve(self.ready.call(Request::from_parts(head, body)), entry),
            Err(response) => Stage::Answer { response: Some(response) },
        }
    }
}

impl<I, S, ReqBody, ResBody> Future for GuardFuture<I, S, ReqBody>
where
    I: Service<Request<ReqBody>, Response = Response<ResBody>>,
    S: Store,
    ResBody: From<Bytes>,
{
    type Output = Result<Response<ResBody>, I::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stage = self.project().stage;
        loop {
            let next = match stage.as_mut().project() {
                StageProjection::Answer { response } => return Poll::Ready(Ok(once(response))),
                StageProjection::Check { check, waiting } => {
                    let (outcome, charges) = ready!(check.as_mut().poll(cx));
                    once(waiting).conclude(outcome, charges)
                }
                StageProjection::Serve { inner, fields, receipt } => {
                    let mut response = match ready!(inner.poll(cx)) {
                        Ok(response) => response,
                        Err(error) => return Poll::Ready(Err(error)),
                    };
                    std::mem::take(fields).append_to(response.headers_mut());
                    match receipt.take().filter(|receipt| receipt.is_due(response.status())) {
                        None => return Poll::Ready(Ok(response)),
                        Some(receipt) => {
                            Stage::Refund { refund: Box::pin(receipt.refund()), response: Some(response) }
                        }
                    }
                }
                StageProjection::Refund { refund, response } => {
                    ready!(refund.as_mut().poll(cx));
                    return Poll::Ready(Ok(once(response)));
                }
            };
            stage.set(next);
        }
    }
}

/// What is taken out once: a future that has answered must not be polled again.
fn once<T>(value: &mut Option<T>) -> T {
    #[expect(
        clippy::expect_used,
        reason = "the contract of Future allows a panic on a poll after the answer"
    )]
    value.take().expect("polled after it had answered")
}

impl<I, S, ReqBody> fmt::Debug for GuardFuture<I, S, ReqBody>
where
    I: Service<Request<ReqBody>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GuardFuture(")?;
        f.write_str(match self.stage {
            Stage::Answer { .. } => "answer",
            Stage::Check { .. } => "check",
            Stage::Serve { .. } => "serve",
            Stage::Refund { .. } => "refund",
        })?;
        f.write_str(")")
    }
}
