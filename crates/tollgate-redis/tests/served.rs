//! A store with a server of its own.

use std::time::Duration;

use tollgate_redis::{RedisStore, RedisStoreBuilder};
use tollgate_testbed::Served;

pub(crate) fn served() -> Served<RedisStore> {
    served_with(|builder| builder)
}

/// With time enough for whatever machine runs the test, unless told otherwise.
pub(crate) fn served_with(set_up: impl FnOnce(RedisStoreBuilder) -> RedisStoreBuilder) -> Served<RedisStore> {
    Served::start(|redis| {
        let builder = RedisStore::builder(&redis.url()).deadline(Duration::from_secs(30));
        set_up(builder).build().expect("this is a URL")
    })
}
