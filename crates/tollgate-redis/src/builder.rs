//! How a store is set up.

use std::{fmt, time::Duration};

use tollgate_script::Prefix;

use crate::{
    RedisStore,
    shared::{self, Way},
};

/// The longest that a caller may be made to wait.
const LONGEST_DEADLINE: Duration = Duration::from_secs(60);

/// Sets up a [`RedisStore`].
///
/// ```
/// use std::time::Duration;
///
/// use tollgate_redis::{Prefix, RedisStore};
///
/// let store = RedisStore::builder("redis://127.0.0.1:6379")
///     .prefix(Prefix::try_new("docs")?)
///     .deadline(Duration::from_millis(250))
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct RedisStoreBuilder {
    url: String,
    prefix: Prefix,
    deadline: Duration,
    resends: u32,
    #[cfg(feature = "tls")]
    roots: Vec<Vec<u8>>,
}

impl RedisStoreBuilder {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            prefix: Prefix::default(),
            deadline: Duration::from_secs(1),
            resends: 0,
            #[cfg(feature = "tls")]
            roots: Vec::new(),
        }
    }

    /// What all keys begin with: `limit` unless told otherwise.
    pub fn prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = prefix;
        self
    }

    /// How long a call may take in all, connecting and sending again included: one second unless told otherwise,
    /// at least a millisecond and at most a minute.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How often a take is sent again whose connection broke before its answer came: not at all unless told otherwise.
    ///
    /// It is counted once however often it arrives, for which the server remembers each answer for a few seconds, which is more work for it.
    /// Without this a call that was on its way when a connection broke is a
    /// [`StoreErrorKind::Unreachable`](tollgate_store::StoreErrorKind::Unreachable). A settlement, a forgetting and all
    /// about claims are sent again once in any case, since nothing has to be remembered for them.
    pub fn resends(mut self, times: u32) -> Self {
        self.resends = times;
        self
    }

    /// Trusts these certificates, in PEM, beside those that the system trusts: for a server with a certificate of its own.
    #[cfg(feature = "tls")]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots.push(pem.into());
        self
    }

    /// Makes the store. Nothing is connected until the first call, so the server need not be up.
    ///
    /// # Errors
    /// Only if the URL, the deadline or a certificate cannot be used.
    pub fn build(self) -> Result<RedisStore, RedisConfigError> {
        if !(Duration::from_millis(1)..=LONGEST_DEADLINE).contains(&self.deadline) {
            return Err(RedisConfigError::Deadline);
        }
        let link = shared::link(Way {
            url: self.url,
            deadline: self.deadline,
            #[cfg(feature = "tls")]
            roots: self.roots,
        })?;
        Ok(RedisStore::new(link, self.prefix, self.deadline, self.resends))
    }
}

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoreBuilder")
            .field("prefix", &self.prefix)
            .field("deadline", &self.deadline)
            .field("resends", &self.resends)
            .finish_non_exhaustive()
    }
}

/// What a [`RedisStore`] cannot be made of. It repeats nothing of the URL, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisConfigError {
    /// The URL is none that a server can be reached at.
    Url,
    /// The URL asks for TLS, and the feature `tls` is off.
    NoTls,
    /// The URL asks for TLS without checking who answers.
    Insecure,
    /// A certificate is no PEM, or cannot be trusted.
    Certificate,
    /// The deadline leaves no time to answer, or more than a caller can be made to wait.
    Deadline,
}

impl fmt::Display for RedisConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Url => {
                "the URL of the Redis server cannot be read: it looks like `redis://user:password@host:6379/0`, with `rediss` for \
                 TLS and signs such as `@`, `/` and `#` in the password percent-encoded, or like `unix:///run/redis.sock`"
            }
            Self::NoTls => "the URL of the Redis server asks for TLS: build tollgate-redis with its feature `tls`",
            Self::Insecure => {
                "the URL of the Redis server says `#insecure`: give the server's certificate to the builder instead"
            }
            Self::Certificate => "a root certificate cannot be read: give it as PEM",
            Self::Deadline => "the deadline cannot be kept: use at least 1 ms and at most 60 s",
        })
    }
}

impl std::error::Error for RedisConfigError {}
