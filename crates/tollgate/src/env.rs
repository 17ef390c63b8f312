//! Which store the environment asks for.

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tollgate_guard::Store;
use tollgate_memory::MemoryStore;

/// What a store of a Redis is asked for by.
const REDIS_URL: &str = "REDIS_URL";

/// The first variable of each pair that stands for Upstash.
#[cfg(not(feature = "upstash"))]
const UPSTASH_URLS: [&str; 2] = ["KV_REST_API_URL", "UPSTASH_REDIS_REST_URL"];

/// What keys begin with unless somebody says otherwise.
pub(crate) const NAMESPACE: &str = "limit";

/// The store that the environment asks for.
///
/// | set | store |
/// |---|---|
/// | `KV_REST_API_URL` and `KV_REST_API_TOKEN`, or `UPSTASH_REDIS_REST_URL` and `UPSTASH_REDIS_REST_TOKEN` | Upstash over REST (feature `upstash`) |
/// | `REDIS_URL` | Redis or Valkey over their own protocol (feature `redis`) |
/// | neither | memory, with one warning per process: each machine counts for itself then |
///
/// `env` is any lookup from a name to a value; for the process' own environment `|name| std::env::var(name).ok()`. Nothing is
/// connected yet. Keys begin with `limit`.
///
/// ```
/// let store = tollgate::store(|_| None)?;
/// assert!(format!("{store:?}").contains("MemoryStore"));
/// # Ok::<(), tollgate::EnvError>(())
/// ```
///
/// # Errors
/// If what is set cannot be used, or asks for a store whose feature is off: never memory in its place.
pub fn store(env: impl Fn(&str) -> Option<String>) -> Result<Arc<dyn Store>, EnvError> {
    open(env, NAMESPACE)
}

/// As [`store`], with other keys.
pub(crate) fn open(
    env: impl Fn(&str) -> Option<String>,
    namespace: &str,
) -> Result<Arc<dyn Store>, EnvError> {
    if let Some(store) = upstash(&env, namespace)? {
        return Ok(store);
    }
    if let Some(url) = env(REDIS_URL).filter(|url| !url.trim().is_empty()) {
        return redis(url.trim(), namespace);
    }
    warn_once();
    Ok(Arc::new(MemoryStore::new()))
}

#[cfg(feature = "upstash")]
fn upstash(
    env: &impl Fn(&str) -> Option<String>,
    namespace: &str,
) -> Result<Option<Arc<dyn Store>>, EnvError> {
    use tollgate_upstash::{Credentials, Prefix, UpstashStore};
    let found =
        Credentials::from_env(env).map_err(|error| EnvError::new("the credentials of Upstash", error))?;
    let Some(credentials) = found else { return Ok(None) };
    let prefix = Prefix::try_new(namespace).map_err(|error| EnvError::new("the namespace", error))?;
    let store = UpstashStore::builder(credentials).prefix(prefix).build();
    Ok(Some(Arc::new(store.map_err(|error| EnvError::new("the store in Upstash", error))?)))
}

#[cfg(not(feature = "upstash"))]
fn upstash(
    env: &impl Fn(&str) -> Option<String>,
    _namespace: &str,
) -> Result<Option<Arc<dyn Store>>, EnvError> {
    match UPSTASH_URLS.into_iter().find(|name| env(name).is_some_and(|url| !url.trim().is_empty())) {
        Some(variable) => Err(EnvError::feature_off(variable, "upstash")),
        None => Ok(None),
    }
}

#[cfg(feature = "redis")]
fn redis(url: &str, namespace: &str) -> Result<Arc<dyn Store>, EnvError> {
    use tollgate_redis::{Prefix, RedisStore};
    let prefix = Prefix::try_new(namespace).map_err(|error| EnvError::new("the namespace", error))?;
    let store = RedisStore::builder(url).prefix(prefix).build();
    Ok(Arc::new(store.map_err(|error| EnvError::new(REDIS_URL, error))?))
}

#[cfg(not(feature = "redis"))]
fn redis(_url: &str, _namespace: &str) -> Result<Arc<dyn Store>, EnvError> {
    Err(EnvError::feature_off(REDIS_URL, "redis"))
}

fn warn_once() {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            "no shared store is set: each instance counts for itself, and no policy meets an outage"
        );
    }
}

/// An environment that asks for a store that cannot be had. It names what to look at, and no value: one may be a secret.
#[derive(Debug)]
pub struct EnvError {
    what: Cow<'static, str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl EnvError {
    #[cfg(any(feature = "upstash", feature = "redis"))]
    fn new(what: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self { what: format!("{what} cannot be used").into(), source: Some(Box::new(source)) }
    }

    #[cfg(not(all(feature = "upstash", feature = "redis")))]
    fn feature_off(variable: &'static str, feature: &'static str) -> Self {
        let what =
            format!("{variable} is set: build tollgate with its feature `{feature}`, or unset the variable");
        Self { what: what.into(), source: None }
    }
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for EnvError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
