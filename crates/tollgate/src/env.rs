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
#[cfg(feature = "redis")]
use tollgate_redis::Prefix;
use tollgate_store::Claims;
#[cfg(all(feature = "upstash", not(feature = "redis")))]
use tollgate_upstash::Prefix;

/// What a store of a Redis is asked for by.
const REDIS_URL: &str = "REDIS_URL";

/// The pairs of variables that stand for Upstash; only a complete one counts.
const UPSTASH: [(&str, &str); 2] =
    [("KV_REST_API_URL", "KV_REST_API_TOKEN"), ("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN")];

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
    Ok(open(env, NAMESPACE)?)
}

/// The store that the environment asks for, to keep claims in: what deliveries need. It is chosen as [`store`] chooses.
///
/// # Errors
/// As [`store`].
pub fn claims(env: impl Fn(&str) -> Option<String>) -> Result<Arc<dyn Claims>, EnvError> {
    Ok(open(env, NAMESPACE)?)
}

/// What every store here is.
pub(crate) trait Kept: Store + Claims {}

impl<S: Store + Claims> Kept for S {}

/// As [`store`], with other keys.
pub(crate) fn open(env: impl Fn(&str) -> Option<String>, namespace: &str) -> Result<Arc<dyn Kept>, EnvError> {
    check(namespace)?;
    match StoreKind::of(&env) {
        StoreKind::Upstash => upstash(&env, namespace),
        StoreKind::Redis => redis(unwrapped(&env(REDIS_URL).unwrap_or_default()), namespace),
        StoreKind::Memory => {
            warn_once();
            Ok(Arc::new(MemoryStore::new()))
        }
    }
}

/// The value without blanks and one pair of quotes round it, which some readers of `.env` files leave there.
fn unwrapped(value: &str) -> &str {
    let value = value.trim();
    let quoted = ['"', '\'', '`'].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    quoted.unwrap_or(value).trim()
}

/// The kinds of store that an environment can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreKind {
    /// Upstash over REST.
    Upstash,
    /// Redis or Valkey over their own protocol.
    Redis,
    /// Memory: each process counts for itself.
    Memory,
}

impl StoreKind {
    /// The kind that [`store`] makes, or fails to make, in this environment.
    pub fn of(env: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name: &str| env(name).is_some_and(|value| !unwrapped(&value).is_empty());
        if UPSTASH.into_iter().any(|(url, token)| is_set(url) && is_set(token)) {
            Self::Upstash
        } else if is_set(REDIS_URL) {
            Self::Redis
        } else {
            Self::Memory
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Upstash => "upstash",
            Self::Redis => "redis",
            Self::Memory => "memory",
        })
    }
}

/// What no shared store would take is refused in memory too: it must not come up only where one is set.
#[cfg(any(feature = "upstash", feature = "redis"))]
fn check(namespace: &str) -> Result<(), EnvError> {
    prefix(namespace).map(drop)
}

#[cfg(not(any(feature = "upstash", feature = "redis")))]
const fn check(_namespace: &str) -> Result<(), EnvError> {
    Ok(())
}

#[cfg(any(feature = "upstash", feature = "redis"))]
fn prefix(namespace: &str) -> Result<Prefix, EnvError> {
    Prefix::try_new(namespace).map_err(|error| EnvError::new("the namespace", error))
}

#[cfg(feature = "upstash")]
fn upstash(env: &impl Fn(&str) -> Option<String>, namespace: &str) -> Result<Arc<dyn Kept>, EnvError> {
    use tollgate_upstash::{Credentials, UpstashStore};
    let found =
        Credentials::from_env(env).map_err(|error| EnvError::new("the credentials of Upstash", error))?;
    let credentials = found.ok_or_else(|| EnvError::bare("the credentials of Upstash are not complete"))?;
    let store = UpstashStore::builder(credentials).prefix(prefix(namespace)?).build();
    Ok(Arc::new(store.map_err(|error| EnvError::new("the store in Upstash", error))?))
}

#[cfg(not(feature = "upstash"))]
fn upstash(_env: &impl Fn(&str) -> Option<String>, _namespace: &str) -> Result<Arc<dyn Kept>, EnvError> {
    Err(EnvError::bare(
        "credentials of Upstash are set: build tollgate with its feature `upstash`, or unset them",
    ))
}

#[cfg(feature = "redis")]
fn redis(url: &str, namespace: &str) -> Result<Arc<dyn Kept>, EnvError> {
    use tollgate_redis::RedisStore;
    let store = RedisStore::builder(url).prefix(prefix(namespace)?).build();
    Ok(Arc::new(store.map_err(|error| EnvError::new(REDIS_URL, error))?))
}

#[cfg(not(feature = "redis"))]
fn redis(_url: &str, _namespace: &str) -> Result<Arc<dyn Kept>, EnvError> {
    Err(EnvError::bare("REDIS_URL is set: build tollgate with its feature `redis`, or unset it"))
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

    const fn bare(what: &'static str) -> Self {
        Self { what: Cow::Borrowed(what), source: None }
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
