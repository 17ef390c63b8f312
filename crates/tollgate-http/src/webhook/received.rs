//! A delivery, as the service behind the layer sees it.

use std::{error::Error, fmt};

use tollgate_core::Timestamp;
use tollgate_webhook::{Delivery, DeliveryId, DeliveryTicket};

/// A genuine delivery that is this request's to process, in the request's extensions. With the feature `axum` it is an extractor too.
#[derive(Clone, Debug)]
pub struct Received {
    event: Option<Box<str>>,
    sent_at: Option<Timestamp>,
    is_claimed: bool,
    ticket: DeliveryTicket,
}

impl Received {
    pub(super) fn new(delivery: &Delivery, event: Option<Box<str>>, sent_at: Option<Timestamp>) -> Self {
        Self { event, sent_at, is_claimed: delivery.is_claimed(), ticket: delivery.ticket() }
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &DeliveryId {
        self.ticket.id()
    }

    /// The hook or project it is for.
    #[must_use]
    pub fn scope(&self) -> &str {
        self.ticket.scope()
    }

    /// The kind of event: of GitHub the name in a header, such as `push`, which the signature does not cover; of Stripe the `type` in
    /// the body.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.event.as_deref()
    }

    /// When it was signed, where the sender says so.
    #[must_use]
    pub const fn sent_at(&self) -> Option<Timestamp> {
        self.sent_at
    }

    /// Whether it is known to be the first: not if the store could not tell and it is processed anyway.
    #[must_use]
    pub const fn is_claimed(&self) -> bool {
        self.is_claimed
    }

    /// What renews the claim, and what a worker needs to confirm or release it: answer with
    /// [`Ending::HandOver`](crate::Ending::HandOver) then.
    #[must_use]
    pub const fn ticket(&self) -> &DeliveryTicket {
        &self.ticket
    }
}

/// A handler that asks for a delivery, on a route without a [`WebhookLayer`](crate::WebhookLayer): answered with 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDelivery(());

impl fmt::Display for NoDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no delivery here: put a `WebhookLayer` on the route")
    }
}

impl Error for NoDelivery {}

#[cfg(feature = "axum")]
impl axum::response::IntoResponse for NoDelivery {
    fn into_response(self) -> axum::response::Response {
        crate::Rejection::problem(http::StatusCode::INTERNAL_SERVER_ERROR, self).into_response()
    }
}

#[cfg(feature = "axum")]
impl<S: Sync> axum::extract::FromRequestParts<S> for Received {
    type Rejection = NoDelivery;

    async fn from_request_parts(head: &mut http::request::Parts, _: &S) -> Result<Self, NoDelivery> {
        head.extensions.get::<Self>().cloned().ok_or(NoDelivery(()))
    }
}
