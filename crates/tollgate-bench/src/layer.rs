//! What the HTTP layer adds to axum's shortest handler: admitting, and refusing.

use std::{convert::Infallible, hint::black_box, sync::Arc};

use axum::{Router, body::Body, routing::get};
use futures_util::FutureExt;
use http::{Request, Response, StatusCode};
use tollgate_core::{Limit, Window};
use tollgate_guard::{Charges, Guard, OnOutage, Policy};
use tollgate_http::GuardLayer;
use tollgate_memory::MemoryStore;
use tower::{Layer, Service};

use crate::{contender::Contender, scenario::Scenario};

/// One visitor, over and over.
pub const ONE_VISITOR: Scenario = Scenario { name: "one visitor over HTTP", keys: 1, rejecting: false };

/// The row that the others are held against: the service behind the layer.
pub const ADMITTING: Contender = Contender { name: "layer, admitting", make: |_| layered(1 << 50) };

/// The service alone, and a limit that is reached.
pub const OTHERS: [Contender; 2] = [
    Contender { name: "no layer", make: |_| driven(service()) },
    Contender { name: "layer, refusing", make: |_| layered(0) },
];

fn service() -> Router {
    Router::new().route("/", get(async || "an answer"))
}

/// A window that is full after its first request, so that `quota` 0 stands for a limit that is reached and not a closed one.
fn layered(quota: u64) -> crate::contender::Check {
    let policy: Policy<1> = Policy::new("ask", Limit::fixed(quota.max(1), Window::WEEK), OnOutage::Deny);
    let Ok(guard) = Guard::builder(MemoryStore::new()).policy(policy).build() else {
        return Box::new(|_| false);
    };
    let layer =
        GuardLayer::new(Arc::new(guard), move |_| Ok(Charges::from(policy.charge("2001:db8:0:1::/64"))));
    let mut check = driven(layer.layer(service()));
    black_box(check(0));
    check
}

fn driven<S>(mut service: S) -> crate::contender::Check
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + 'static,
{
    Box::new(move |_| {
        let answer = service.call(Request::new(Body::empty())).now_or_never();
        answer.and_then(Result::ok).is_some_and(|response| response.status() == StatusCode::OK)
    })
}
