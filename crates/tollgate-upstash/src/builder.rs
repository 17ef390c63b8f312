//! How a store is put together.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use tollgate_script::Prefix;

use crate::{
    Credentials, Transport, TransportError, UpstashStore,
    client::{Client, Manner},
    shared,
};

/// What a store is to be like: all of it has a default.
///
/// ```
/// use std::time::Duration;
/// use tollgate_upstash::{Credentials, Prefix, UpstashStore};
///
/// let credentials = Credentials::new("https://eu1-fond-1.upstash.io", "AXd4")?;
/// let store = UpstashStore::builder(credentials)
///     .prefix(Prefix::try_new("web-agents")?)
///     .deadline(Duration::from_millis(500))
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct UpstashStoreBuilder {
    credentials: Credentials,
    prefix: Prefix,
    deadline: Duration,
    replay: Option<Duration>,
    batching: bool,
    transport: Option<Arc<dyn Transport>>,
}

/// The longest that a caller may be made to wait.
const LONGEST_DEADLINE: Duration = Duration::from_secs(60);

/// How long a take is remembered at least, if nobody says otherwise.
const REPLAY: Duration = Duration::from_secs(10);

impl UpstashStoreBuilder {
    pub(crate) fn new(credentials: Credentials) -> Self {
        Self {
            credentials,
            prefix: Prefix::default(),
            deadline: UpstashStore::DEADLINE,
            replay: None,
            batching: true,
            transport: None,
        }
    }

    /// What the keys of this store begin with: services that count together have one prefix. `limit` by default.
    pub fn prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = prefix;
        self
    }

    /// How long a call may take in all, with everything that is sent again: [`UpstashStore::DEADLINE`] by default, at most a minute.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How long the server remembers a take, so that one which is sent again is counted once: ten seconds by default, or twice
    /// the deadline if that is more.
    ///
    /// At least twice the deadline: once for the time in which the take may be sent again, and once for what is still on its way
    /// then. A take that was admitted costs a small key for that long.
    pub const fn replay_for(mut self, replay: Duration) -> Self {
        self.replay = Some(replay);
        self
    }

    /// Whether concurrent calls share requests, which they do by default. Turned off, each call is a request of its own: at
    /// most 128 of a client are in flight at once, and the others wait for their turn within their deadline.
    pub const fn batching(mut self, batching: bool) -> Self {
        self.batching = batching;
        self
    }

    /// Sends requests over this transport. The store has a client of its own then, instead of sharing the process's.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// The store. Nothing is sent yet.
    ///
    /// # Errors
    /// If the durations do not fit together, or encryption could not be set up.
    pub fn build(self) -> Result<UpstashStore, UpstashConfigError> {
        if self.deadline.is_zero() || self.deadline > LONGEST_DEADLINE {
            return Err(UpstashConfigError::Deadline { deadline: self.deadline });
        }
        let least = self.deadline * 2;
        let replay = self.replay.unwrap_or(REPLAY.max(least));
        if replay < least {
            return Err(UpstashConfigError::Replay { replay, least });
        }
        let client = match self.transport {
            Some(transport) => Arc::new(Client::new(self.credentials, transport)),
            None => shared::client(&self.credentials)?,
        };
        let manner = Manner { deadline: self.deadline, batching: self.batching };
        Ok(UpstashStore::from_parts(client, self.prefix, manner, replay))
    }
}

/// A store that cannot be.
#[derive(Debug)]
#[non_exhaustive]
pub enum UpstashConfigError {
    /// A deadline that leaves no time to answer, or more than a caller can be made to wait.
    Deadline {
        /// What was asked for.
        deadline: Duration,
    },
    /// A take could be forgotten while it may still be sent again, and be counted twice.
    Replay {
        /// What was asked for.
        replay: Duration,
        /// The least that this deadline needs.
        least: Duration,
    },
    /// Encryption could not be set up.
    Transport(TransportError),
}

impl fmt::Display for UpstashConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline { deadline } => write!(
                f,
                "a deadline of {deadline:?} cannot be kept: use more than nothing and at most {LONGEST_DEADLINE:?}"
            ),
            Self::Replay { replay, least } => write!(
                f,
                "to remember takes for {replay:?} is too short for this deadline: use at least {least:?}, or a shorter deadline"
            ),
            Self::Transport(_) => f.write_str("encryption could not be set up"),
        }
    }
}

impl Error for UpstashConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Transport(source) => Some(source),
            Self::Deadline { .. } | Self::Replay { .. } => None,
        }
    }
}
