//! What a webhook's layer is told, and the steps before the work.

use std::{borrow::Cow, fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version, header, request};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Deserialize;
use tollgate_core::Timestamp;
use tollgate_guard::{Charges, Outage};
use tollgate_store::StoreErrorKind;
use tollgate_webhook::{
    Begin, Deliveries, DeliveryId, GITHUB_DELIVERY, GITHUB_EVENT, GITHUB_HOOK, GithubSecrets, SignatureError,
    StandardSecrets, StripeSecrets, WEBHOOK_ID,
};

use super::{Received, hand_over::Held, source_limit::SourceLimit};
use crate::{Rejection, retry_after};

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

/// A delivery to be processed.
pub(super) struct First {
    pub(super) delivery: Held,
    pub(super) received: Received,
    pub(super) body: Bytes,
}

impl Config {
    /// Everything that comes before the work: the delivery, or the answer to give in its place.
    pub(super) async fn admit<B>(&self, head: &request::Parts, body: B) -> Result<First, Rejection>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if announced(&head.headers).is_some_and(|bytes| bytes > self.body_limit as u64) {
            return Err(too_large(head.version));
        }
        let charges = match &self.limit {
            Some(limit) => {
                let charges = limit.charges(head)?;
                limit.ask(&charges).await?;
                charges
            }
            None => Charges::none(),
        };
        if let Err(error) = self.verify_headers(&head.headers) {
            return Err(self.not_genuine(&charges, unsigned(error)).await);
        }
        let body = match Limited::new(body, self.body_limit).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Err(self.not_genuine(&charges, too_large(head.version)).await);
            }
            Err(_) => return Err(Rejection::problem(StatusCode::BAD_REQUEST, "the body did not arrive")),
        };
        let sent_at = match self.verify(&head.headers, &body) {
            Ok(sent_at) => sent_at,
            Err(error) => return Err(self.not_genuine(&charges, unsigned(error)).await),
        };
        self.claim(head, body, sent_at).await
    }

    async fn claim(
        &self,
        head: &request::Parts,
        body: Bytes,
        sent_at: Option<Timestamp>,
    ) -> Result<First, Rejection> {
        let (id, event) = match &self.secrets {
            Secrets::Github(_) => {
                (plain(&head.headers, GITHUB_DELIVERY)?, plain(&head.headers, GITHUB_EVENT)?)
            }
            Secrets::Standard(_) => (plain(&head.headers, WEBHOOK_ID)?, None),
            Secrets::Stripe(_) => stripe_event(&body)?,
        };
        let id = id.ok_or_else(|| bad("the delivery's id is missing"))?;
        let arrival = Arrival { head, body: &body, id: &id, event: event.as_ref().map(DeliveryId::as_str) };
        if self.wanted.as_ref().is_some_and(|wanted| !wanted(&arrival)) {
            return Err(said(StatusCode::OK, "ignored"));
        }
        let scope = match (&self.scope, &self.secrets) {
            (Some(scope), _) => scope(head)?,
            (None, Secrets::Github(_)) => {
                plain(&head.headers, GITHUB_HOOK)?.map(|hook| hook.as_str().to_owned()).unwrap_or_default()
            }
            (None, Secrets::Standard(_) | Secrets::Stripe(_)) => String::new(),
        };
        match self.deliveries.begin(&scope, &id).await {
            Begin::First(delivery) => {
                let event = event.map(|event| event.as_str().into());
                let ticket = delivery.ticket();
                let delivery = Held::new(delivery, self.deliveries.clone());
                let received = Received::new(ticket, delivery.share(), event, sent_at);
                Ok(First { delivery, received, body })
            }
            Begin::Duplicate => Err(said(StatusCode::OK, "duplicate")),
            Begin::Running { .. } if !self.retries => Err(said(StatusCode::ACCEPTED, "in progress")),
            Begin::Running { until } => {
                let detail = "this delivery is being processed: send it again later";
                let mut rejection = Rejection::problem(StatusCode::CONFLICT, detail);
                let wait = retry_after(until, self.deliveries.now());
                rejection.headers_mut().insert(header::RETRY_AFTER, wait);
                Err(rejection)
            }
            Begin::Unavailable(error) if error.kind() == StoreErrorKind::Misuse => {
                tracing::error!(error = &error as &dyn std::error::Error, "a delivery cannot be claimed");
                let detail = "this delivery cannot be claimed";
                Err(Rejection::problem(StatusCode::BAD_REQUEST, detail))
            }
            Begin::Unavailable(_) => {
                let detail =
                    "it cannot be told just now whether this delivery was processed: send it again later";
                let mut rejection = Rejection::problem(StatusCode::SERVICE_UNAVAILABLE, detail);
                let now = self.deliveries.now();
                let wait = retry_after(now.saturating_add(Outage::RETRY_AFTER), now);
                rejection.headers_mut().insert(header::RETRY_AFTER, wait);
                Err(rejection)
            }
        }
    }

    /// Checks what can be told of the signature before the body is read.
    fn verify_headers(&self, headers: &HeaderMap) -> Result<(), SignatureError> {
        match &self.secrets {
            Secrets::Github(secrets) => secrets.verify_headers(headers),
            Secrets::Standard(secrets) => secrets.verify_headers(headers),
            Secrets::Stripe(secrets) => secrets.verify_headers(headers),
        }
    }

    /// Checks the signature; gives the time of signing, where the sender says it.
    fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<Option<Timestamp>, SignatureError> {
        match &self.secrets {
            Secrets::Github(secrets) => secrets.verify(headers, body).map(|()| None),
            Secrets::Standard(secrets) => secrets.verify(headers, body, self.deliveries.now()).map(Some),
            Secrets::Stripe(secrets) => secrets.verify(headers, body, self.deliveries.now()).map(Some),
        }
    }

    async fn not_genuine(&self, charges: &Charges, rejection: Rejection) -> Rejection {
        if let Some(limit) = &self.limit {
            limit.count(charges).await;
        }
        rejection
    }
}

/// How long the body says it is.
fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The value of a header that may be part of a key, if it is there.
fn plain(headers: &HeaderMap, name: &'static str) -> Result<Option<DeliveryId>, Rejection> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(bad(format_args!("the header `{name}` came more than once")));
    }
    match DeliveryId::of_bytes(value.as_bytes()) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(bad(format_args!("the header `{name}`: {error}"))),
    }
}

/// What names an event in its body.
#[derive(Deserialize)]
struct StripeEvent<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

fn stripe_event(body: &[u8]) -> Result<(Option<DeliveryId>, Option<DeliveryId>), Rejection> {
    let event: StripeEvent<'_> =
        serde_json::from_slice(body).map_err(|_| bad("the body is no event with an `id`"))?;
    let id = DeliveryId::try_new(&event.id).map_err(bad)?;
    let kind = event.kind.map(|kind| DeliveryId::try_new(&kind)).transpose().map_err(bad)?;
    Ok((Some(id), kind))
}

fn bad(detail: impl fmt::Display) -> Rejection {
    Rejection::problem(StatusCode::BAD_REQUEST, detail)
}

fn unsigned(error: SignatureError) -> Rejection {
    Rejection::problem(StatusCode::UNAUTHORIZED, error)
}

fn too_large(version: Version) -> Rejection {
    let mut rejection =
        Rejection::problem(StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than is allowed here");
    // What is left of it is not read. From HTTP/2 on a stream ends by itself, and the field is forbidden.
    if version < Version::HTTP_2 {
        rejection.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    rejection
}

/// An answer that is no error: the sender is to leave it at that.
fn said(status: StatusCode, word: &'static str) -> Rejection {
    let mut response = Response::new(Bytes::from(format!("{{\"delivery\":\"{word}\"}}")));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Rejection::from(response)
}
