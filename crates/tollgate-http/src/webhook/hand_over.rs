//! A delivery that its request may give away while it is worked on.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tollgate_webhook::{Deliveries, Delivery, DeliveryTicket};

/// The delivery of one request, shared by the layer, which ends it, and the service, which may hand it over before.
#[derive(Clone)]
pub(super) struct Shared(Arc<Inner>);

struct Inner {
    deliveries: Deliveries,
    stage: Mutex<Stage>,
}

enum Stage {
    /// The request's to end.
    Here(Delivery),
    /// Somebody else's to end.
    HandedOver,
    /// The request is over.
    Ended,
}

impl Shared {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        // Each change is one assignment, so there is nothing half done to see.
        self.0.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the request does not end it, whatever becomes of the request.
    pub(super) fn hand_over(&self) {
        let mut stage = self.stage();
        if let Stage::Here(_) = *stage
            && let Stage::Here(delivery) = std::mem::replace(&mut *stage, Stage::HandedOver)
        {
            let _ticket = delivery.hand_over();
        }
    }

    /// Undoes a hand-over: the request ends it again, at once if it is over itself.
    pub(super) fn take_back(&self, ticket: &DeliveryTicket) {
        let mut stage = self.stage();
        let delivery = match *stage {
            Stage::Here(_) => return,
            Stage::HandedOver => self.0.deliveries.take_over(ticket.clone()),
            Stage::Ended => {
                drop(stage);
                return drop(self.0.deliveries.take_over(ticket.clone()));
            }
        };
        *stage = Stage::Here(delivery);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared(..)")
    }
}

/// The layer's hold on the delivery: dropped with its request, it releases what was not handed over.
pub(super) struct Held(Shared);

impl Held {
    pub(super) fn new(delivery: Delivery, deliveries: Deliveries) -> Self {
        Self(Shared(Arc::new(Inner { deliveries, stage: Mutex::new(Stage::Here(delivery)) })))
    }

    pub(super) fn share(&self) -> Shared {
        self.0.clone()
    }

    /// The delivery, unless it was handed over. The service can no longer hand it over then.
    pub(super) fn end(&self) -> Option<Delivery> {
        match std::mem::replace(&mut *self.0.stage(), Stage::Ended) {
            Stage::Here(delivery) => Some(delivery),
            Stage::HandedOver | Stage::Ended => None,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.end());
    }
}
