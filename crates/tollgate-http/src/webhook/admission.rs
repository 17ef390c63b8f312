//! The steps before the work, in their order.

use std::{borrow::Cow, error::Error, fmt, pin::pin};

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version, header, request};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Deserialize;
use tollgate_core::Timestamp;
use tollgate_guard::{Charges, Outage};
use tollgate_store::StoreErrorKind;
use tollgate_webhook::{
    Begin, DeliveryId, GITHUB_DELIVERY, GITHUB_EVENT, GITHUB_HOOK, SignatureError, WEBHOOK_ID,
};

use super::{
    Arrival, Received,
    config::{Config, Secrets},
    hand_over::Held,
};
use crate::{Rejection, retry_after};

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
        B::Error: Into<Box<dyn Error + Send + Sync>>,
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
        let body = match gather(Limited::new(body, self.body_limit)).await {
            Ok(body) => body,
            Err(error) if error.is::<LengthLimitError>() => {
                return Err(self.not_genuine(&charges, too_large(head.version)).await);
            }
            // Half a body is not shown to be genuine, and was held in memory as a forgery is.
            Err(_) => return Err(self.not_genuine(&charges, bad("the body did not arrive")).await),
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
                tracing::error!(error = &error as &dyn Error, "a delivery cannot be claimed");
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

    async fn not_genuine(&self, charges: &Charges, rejection: Rejection) -> Rejection {
        if let Some(limit) = &self.limit {
            limit.count(charges).await;
        }
        rejection
    }
}

/// The body in one piece. Its frames are copied and let go: a sender that writes single bytes would have each of them kept with many
/// times its length, in what is held of a frame and in the buffers that it is a part of.
async fn gather<B: Body>(body: B) -> Result<Bytes, B::Error> {
    let (mut body, mut whole) = (pin!(body), BytesMut::new());
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            whole.put(data);
        }
    }
    Ok(whole.freeze())
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
