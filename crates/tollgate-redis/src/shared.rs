//! The process's connections: one for each server, shared by all stores that reach it in the same way.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
    time::Duration,
};

use crate::{RedisConfigError, address::Address, link::Link};

/// What two stores have in common that share a connection. The deadline is part of it, since it says how long a connection may
/// be silent.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub(crate) url: String,
    pub(crate) deadline: Duration,
    #[cfg(feature = "tls")]
    pub(crate) roots: Vec<Vec<u8>>,
}

/// Those that some store still holds. A connection is kept as long as one is there.
static LINKS: LazyLock<Mutex<HashMap<Way, Weak<Link>>>> = LazyLock::new(Mutex::default);

/// The process's link for this way.
pub(crate) fn link(way: Way) -> Result<Arc<Link>, RedisConfigError> {
    let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(link) = links.get(&way).and_then(Weak::upgrade) {
        return Ok(link);
    }
    links.retain(|_, link| link.strong_count() > 0);
    let address = Address::parse(
        &way.url,
        #[cfg(feature = "tls")]
        &way.roots,
    )?;
    let link = Arc::new(Link::new(address, way.deadline.saturating_mul(2)));
    links.insert(way, Arc::downgrade(&link));
    Ok(link)
}
