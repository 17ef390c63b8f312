//! A service with a guard in front.

use std::{
    fmt, mem,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use tollgate_store::Store;
use tower_service::Service;

use crate::{
    GuardFuture,
    config::{Config, Entry},
};

/// A service with a guard in front, made by a [`GuardLayer`](crate::GuardLayer).
pub struct GuardService<I, S = Arc<dyn Store>> {
    inner: I,
    config: Arc<Config<S>>,
}

impl<I, S> GuardService<I, S> {
    pub(crate) fn new(inner: I, config: Arc<Config<S>>) -> Self {
        Self { inner, config }
    }

    /// The service behind the guard.
    pub const fn inner(&self) -> &I {
        &self.inner
    }

    /// The service behind the guard, alone.
    pub fn into_inner(self) -> I {
        self.inner
    }
}

impl<I: Clone, S> GuardService<I, S> {
    /// The service that was polled to readiness: the one to call later, or to drop. A clone of it has yet to become ready.
    fn take_ready(&mut self) -> I {
        let clone = self.inner.clone();
        mem::replace(&mut self.inner, clone)
    }

    /// Answers in the service's place and lets go of what it may have reserved in becoming ready: a client that is refused must not
    /// hold a place among the requests at work for as long as its connection lasts.
    fn refuse<ReqBody>(&mut self, response: I::Response) -> GuardFuture<I, S, ReqBody>
    where
        I: Service<Request<ReqBody>>,
    {
        drop(self.take_ready());
        GuardFuture::answer(response)
    }
}

impl<I, S, ReqBody, ResBody> Service<Request<ReqBody>> for GuardService<I, S>
where
    I: Service<Request<ReqBody>, Response = Response<ResBody>> + Clone,
    S: Store,
    ResBody: From<Bytes>,
{
    type Response = Response<ResBody>;
    type Error = I::Error;
    type Future = GuardFuture<I, S, ReqBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), I::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        let (head, body) = request.into_parts();
        if self.config.skips(&head) {
            let request = Request::from_parts(head, body);
            return GuardFuture::serve(self.inner.call(request), Entry::free());
        }
        let charges = match (self.config.charges)(&head) {
            Ok(charges) => charges,
            Err(rejection) => return self.refuse(rejection.into_response()),
        };
        if charges.is_empty() {
            let request = Request::from_parts(head, body);
            return GuardFuture::serve(self.inner.call(request), Entry::free());
        }
        let Some(outcome) = self.config.guard.check_now(&charges.borrowed()) else {
            let ready = self.take_ready();
            return GuardFuture::check(
                Arc::clone(&self.config),
                charges,
                ready,
                Request::from_parts(head, body),
            );
        };
        // It has only just come about: reading the clock again would tell nothing new.
        let now = outcome.decided_at();
        match self.config.conclude(outcome, now, charges, &head) {
            Ok(entry) => GuardFuture::serve(self.inner.call(Request::from_parts(head, body)), entry),
            Err(response) => self.refuse(response),
        }
    }
}

impl<I: Clone, S> Clone for GuardService<I, S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), config: Arc::clone(&self.config) }
    }
}

impl<I: fmt::Debug, S: fmt::Debug> fmt::Debug for GuardService<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardService").field("inner", &self.inner).field("config", &self.config).finish()
    }
}
