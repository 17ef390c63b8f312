//! A store with a gateway and a Redis of its own.

use std::time::Duration;

use tollgate_testbed::{RestApi, TOKEN};
use tollgate_upstash::{Credentials, UpstashStore, UpstashStoreBuilder};

pub(crate) type Served = tollgate_testbed::Served<UpstashStore, RestApi>;

/// With time enough for whatever machine runs the test.
pub(crate) fn served(set_up: impl FnOnce(UpstashStoreBuilder) -> UpstashStoreBuilder) -> Served {
    Served::start_behind_a_gateway(|gateway| {
        let builder = UpstashStore::builder(Credentials::new(&gateway.url(), TOKEN).unwrap());
        set_up(builder.deadline(Duration::from_secs(30))).build().unwrap()
    })
}
