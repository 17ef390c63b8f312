//! A delivery, as the service behind the layer sees it.

use std::{error::Error, fmt};

use tollgate_core::Timestamp;
use tollgate_webhook::{DeliveryId, DeliveryTicket};

use super::hand_over::Shared;

/// A genuine delivery that is this request's to process, in the request's extensions. With the feature `axum` it is an extractor too.
#[derive(Clone, Debug)]
pub struct Received {
    event: Option<Box<str>>,
    sent_at: Option<Timestamp>,
    ticket: DeliveryTicket,
    shared: Shared,
}

impl Received {
    pub(super) const fn new(
        ticket: DeliveryTicket,
        shared: Shared,
        event: Option<Box<str>>,
        sent_at: Option<Timestamp>,
    ) -> Self {
        Self { event, sent_at, ticket, shared }
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
        self.ticket.is_claimed()
    }

    /// What renews the claim while the service works. To have a worker confirm or release it, use [`Received::hand_over`].
    #[must_use]
    pub const fn ticket(&self) -> &DeliveryTicket {
        &self.ticket
    }

    /// Gives the delivery to somebody else, at once: nothing that becomes of this request ends it any more, neither its answer nor that
    /// it is cancelled or panics. Whoever takes the ticket over confirms or releases.
    ///
    /// Call it before the ticket is queued, and [`Received::take_back`] if it could not be. The other way round, a request that is
    /// cancelled in between releases what a worker has begun.
    ///
    /// ```
    /// # use std::sync::mpsc::SyncSender;
    /// use http::StatusCode;
    /// use tollgate_http::Received;
    /// # use tollgate_webhook::DeliveryTicket;
    ///
    /// async fn on_push(received: &Received, queue: &SyncSender<DeliveryTicket>) -> StatusCode {
    ///     match queue.try_send(received.hand_over()) {
    ///         Ok(()) => StatusCode::ACCEPTED,
    ///         Err(_full) => {
    ///             received.take_back(); // so that this answer releases it
    ///             StatusCode::SERVICE_UNAVAILABLE
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// Called once the request is over, it undoes nothing: to renew the ticket says whether it is still held.
    #[must_use = "what is not taken over is held until its lease ends"]
    pub fn hand_over(&self) -> DeliveryTicket {
        self.shared.hand_over();
        self.ticket.clone()
    }

    /// Undoes [`Received::hand_over`]: this request's answer ends the delivery again. If the request is over by now, it is released in the
    /// background.
    ///
    /// Only for a ticket that nobody has got.
    pub fn take_back(&self) {
        self.shared.take_back(&self.ticket);
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
