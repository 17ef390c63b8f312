//! What a webhook's layer is told.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, request};
use tollgate_core::Timestamp;
use tollgate_webhook::{
    Deliveries, DeliveryId, GithubSecrets, SignatureError, StandardSecrets, StripeSecrets,
};

use super::source_limit::SourceLimit;
use crate::Rejection;

type Scope = dyn Fn(&request::Parts) -> Result<String, Rejection> + Send + Sync;
type Wanted = dyn Fn(&Arrival<'_>) -> bool + Send + Sync;

/// A genuine delivery that has arrived, for the filter.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Arrival<'a> {
    /// The request's head.
    pub head: &'a request::Parts,
    /// The raw body.
    pub body: &'a Bytes,
    /// The delivery's id.
    pub id: &'a DeliveryId,
    /// The kind of event: of GitHub the name in a header, which the signature does not cover; of Stripe the `type` in the body.
    pub event: Option<&'a str>,
}

#[derive(Clone)]
pub(super) struct Config {
    pub(super) secrets: Secrets,
    pub(super) deliveries: Deliveries,
    pub(super) body_limit: usize,
    pub(super) limit: Option<Arc<dyn SourceLimit>>,
    pub(super) scope: Option<Arc<Scope>>,
    pub(super) wanted: Option<Arc<Wanted>>,
    pub(super) retries: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Secrets {
    Github(GithubSecrets),
    Standard(StandardSecrets),
    Stripe(StripeSecrets),
}

impl Config {
    /// Checks what can be told of the signature before the body is read.
    pub(super) fn verify_headers(&self, headers: &HeaderMap) -> Result<(), SignatureError> {
        match &self.secrets {
            Secrets::Github(secrets) => secrets.verify_headers(headers),
            Secrets::Standard(secrets) => secrets.verify_headers(headers),
            Secrets::Stripe(secrets) => secrets.verify_headers(headers),
        }
    }

    /// Checks the signature; gives the time of signing, where the sender says it.
    pub(super) fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Option<Timestamp>, SignatureError> {
        match &self.secrets {
            Secrets::Github(secrets) => secrets.verify(headers, body).map(|()| None),
            Secrets::Standard(secrets) => secrets.verify(headers, body, self.deliveries.now()).map(Some),
            Secrets::Stripe(secrets) => secrets.verify(headers, body, self.deliveries.now()).map(Some),
        }
    }
}
