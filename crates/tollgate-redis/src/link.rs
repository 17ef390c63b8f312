//! The connection of a store: made when it is first needed, and again when it broke.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use redis::{ErrorKind, RedisError};
use tokio::time::{Instant, timeout_at};
use tollgate_script::server_error;
use tollgate_store::{StoreError, StoreErrorKind};

use crate::{address::Address, live::Live};

/// The way to one server.
pub(crate) struct Link {
    address: Arc<Address>,
    silence: Duration,
    /// The connection in use: what nearly every call needs, and none waits for another to read.
    open: RwLock<Option<Arc<Live>>>,
    /// The last attempt to connect, under way or done. One at a time, whoever waits for it.
    attempt: Mutex<Option<Attempt>>,
}

/// An attempt to connect, and until when something must have come of it.
struct Attempt {
    outcome: Outcome,
    until: Instant,
}

/// Nothing comes of it if the runtime it was begun on ends.
type Outcome = Shared<BoxFuture<'static, Option<Result<Arc<Live>, Failure>>>>;

/// How long an attempt may take: longer than those who wait for it, so that a slow handshake is not begun again and again.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long a failure stands before the next attempt.
const PAUSE: Duration = Duration::from_millis(10);

impl Link {
    /// `silence` is how long the system waits for a peer that does not acknowledge what was sent.
    pub(crate) fn new(address: Address, silence: Duration) -> Self {
        Self { address: Arc::new(address), silence, open: RwLock::new(None), attempt: Mutex::new(None) }
    }

    /// The connection in use, if it is open as far as is known.
    pub(crate) fn open(&self) -> Option<Arc<Live>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().filter(|live| live.is_open()).cloned()
    }

    /// A connection that is open, as far as is known, made if there is none; or why there is none.
    pub(crate) async fn live(&self) -> Result<Arc<Live>, StoreError> {
        let live = self.connected().await?;
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&live));
        Ok(live)
    }

    /// The outcome of the last attempt to connect if it still stands, or of another.
    async fn connected(&self) -> Result<Arc<Live>, StoreError> {
        loop {
            let outcome = {
                let mut last = self.attempt.lock().unwrap_or_else(PoisonError::into_inner);
                match last.as_ref().map(|attempt| attempt.outcome.peek()) {
                    Some(Some(Some(Ok(live)))) if live.is_open() => return Ok(live.clone()),
                    Some(Some(Some(Err(failure)))) if failure.at.elapsed() < PAUSE => {
                        return Err(failure.error());
                    }
                    _ => {}
                }
                match &*last {
                    // One that is late began on a runtime that nobody drives, and perhaps never will.
                    Some(Attempt { outcome, until })
                        if outcome.peek().is_none() && Instant::now() <= *until =>
                    {
                        outcome.clone()
                    }
                    _ => last.insert(self.begin()).outcome.clone(),
                }
            };
            if let Some(outcome) = outcome.await {
                return outcome.map_err(|failure| failure.error());
            }
        }
    }

    /// Connects in a task of its own, so that it goes on when those who wait for it give up.
    #[expect(clippy::disallowed_methods, reason = "a transport owns the deadline of its calls")]
    fn begin(&self) -> Attempt {
        let address = Arc::clone(&self.address);
        let silence = self.silence;
        let until = Instant::now() + CONNECT_WITHIN;
        let connecting = tokio::spawn(async move {
            match timeout_at(until, Live::open(&address, silence)).await {
                Ok(opened) => opened.map(Arc::new).map_err(|cause| Failure::new(Some(cause))),
                Err(_elapsed) => Err(Failure::new(None)),
            }
        });
        let outcome = connecting.map(|ended| match ended {
            Ok(outcome) => Some(outcome),
            Err(error) if error.is_cancelled() => None,
            Err(_panicked) => Some(Err(Failure::new(None))),
        });
        Attempt { outcome: outcome.boxed().shared(), until: until + PAUSE }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.address, f)
    }
}

/// Why there is no connection, told to each who waited for one.
#[derive(Clone, Debug)]
struct Failure {
    at: Instant,
    /// Nothing if it took too long.
    cause: Option<RedisError>,
}

impl Failure {
    fn new(cause: Option<RedisError>) -> Self {
        Self { at: Instant::now(), cause }
    }

    fn error(&self) -> StoreError {
        match &self.cause {
            Some(cause) => unusable(cause),
            None => {
                let ms = CONNECT_WITHIN.as_millis();
                StoreError::new(
                    StoreErrorKind::Unreachable,
                    format!("no connection to the server within {ms} ms"),
                )
            }
        }
    }
}

/// What it means that a connection could not be made, or broke.
pub(crate) fn unusable(cause: &RedisError) -> StoreError {
    let detail = cause.detail().unwrap_or_default();
    // An answer that is cut off is told as one that cannot be parsed.
    let is_cut_off = detail.contains("end of input");
    let error = match (cause.kind(), cause.code()) {
        (ErrorKind::AuthenticationFailed, _) => server_error("WRONGPASS").into_error(),
        (ErrorKind::Parse, _) if !is_cut_off => StoreError::new(
            StoreErrorKind::Garbage,
            "what answers at this address does not speak the protocol of Redis",
        ),
        (_, Some(code)) => server_error(&format!("{code} {detail}")).into_error(),
        _ => StoreError::new(
            StoreErrorKind::Unreachable,
            "there is no connection to the server, or it broke before the answer",
        ),
    };
    error.caused_by(cause.clone())
}
