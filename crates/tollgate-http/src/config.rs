//! What a layer is told, shared by all its services, and what follows from an outcome.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Response, StatusCode, request};
use tollgate_core::Timestamp;
use tollgate_guard::{Charges, Guard, Outcome, Pass};
use tollgate_store::Store;

use crate::{Refused, Rejection, admit, fields::Fields};

type Charge = dyn Fn(&request::Parts) -> Result<Charges, Rejection> + Send + Sync;
type Skip = dyn Fn(&request::Parts) -> bool + Send + Sync;
type OnRefusal = dyn Fn(&Refused, &request::Parts) -> Response<Bytes> + Send + Sync;
type RefundOn = dyn Fn(StatusCode) -> bool + Send + Sync;

pub(crate) struct Config<S> {
    pub(crate) guard: Arc<Guard<S>>,
    pub(crate) charges: Arc<Charge>,
    pub(crate) skip: Option<Arc<Skip>>,
    pub(crate) on_refusal: Option<Arc<OnRefusal>>,
    pub(crate) refund_on: Option<Arc<RefundOn>>,
    pub(crate) legacy: bool,
}

/// What a request that goes on takes along to its response.
pub(crate) struct Entry<S> {
    pub(crate) fields: Fields,
    /// Only if a charge may be given back, so that all others stay small.
    pub(crate) receipt: Option<Box<Receipt<S>>>,
}

/// What it takes to give a charge back.
pub(crate) struct Receipt<S> {
    config: Arc<Config<S>>,
    charges: Charges,
    pass: Pass,
}

impl<S> Config<S> {
    pub(crate) fn new(guard: Arc<Guard<S>>, charges: Arc<Charge>) -> Self {
        Self { guard, charges, skip: None, on_refusal: None, refund_on: None, legacy: false }
    }

    pub(crate) fn skips(&self, head: &request::Parts) -> bool {
        self.skip.as_ref().is_some_and(|skip| skip(head))
    }

    /// Whether the request goes on, and if not, its answer.
    pub(crate) fn conclude<B: From<Bytes>>(
        self: &Arc<Self>,
        outcome: Outcome,
        now: Timestamp,
        charges: Charges,
        head: &request::Parts,
    ) -> Result<Entry<S>, Response<B>> {
        match admit(outcome, now) {
            Ok(mut passed) => {
                if self.legacy {
                    passed = passed.with_legacy_fields();
                }
                let fields = passed.fields();
                let receipt = self.refund_on.is_some().then(|| {
                    Box::new(Receipt { config: Arc::clone(self), charges, pass: passed.into_pass() })
                });
                Ok(Entry { fields, receipt })
            }
            Err(mut refused) => {
                if self.legacy {
                    refused = refused.with_legacy_fields();
                }
                let Some(respond) = &self.on_refusal else { return Err(refused.into_response()) };
                let mut response = respond(&refused, head);
                refused.apply(response.headers_mut());
                Err(response.map(B::from))
            }
        }
    }
}

impl<S> Entry<S> {
    /// Of a request that nothing is said about.
    pub(crate) fn free() -> Self {
        Self { fields: Fields::default(), receipt: None }
    }
}

impl<S: Store> Receipt<S> {
    pub(crate) fn is_due(&self, status: StatusCode) -> bool {
        self.config.refund_on.as_ref().is_some_and(|refund| refund(status))
    }

    pub(crate) async fn refund(self) {
        if let Err(error) = self.config.guard.refund(&self.charges.borrowed(), &self.pass).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a charge could not be given back and stays spent"
            );
        }
    }
}

/// By hand: a store need not be `Clone` to be shared.
impl<S> Clone for Config<S> {
    fn clone(&self) -> Self {
        Self {
            guard: Arc::clone(&self.guard),
            charges: Arc::clone(&self.charges),
            skip: self.skip.clone(),
            on_refusal: self.on_refusal.clone(),
            refund_on: self.refund_on.clone(),
            legacy: self.legacy,
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Config<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("guard", &self.guard)
            .field("skip", &self.skip.is_some())
            .field("on_refusal", &self.on_refusal.is_some())
            .field("refund_on", &self.refund_on.is_some())
            .field("legacy", &self.legacy)
            .finish_non_exhaustive()
    }
}
