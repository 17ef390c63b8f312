//! A store with a server of its own.

use tollgate_redis::{RedisStore, RedisStoreBuilder};
use tollgate_testbed::Served;

pub(crate) fn served() -> Served<RedisStore> {
    served_with(|builder| builder)
}

pub(crate) fn served_with(set_up: impl FnOnce(RedisStoreBuilder) -> RedisStoreBuilder) -> Served<RedisStore> {
    Served::start(|redis| set_up(RedisStore::builder(&redis.url())).build().expect("this is a URL"))
}
