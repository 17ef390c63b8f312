//! The store.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use redis::Cmd;
use tokio::time::{Instant, timeout_at};
use tollgate_script::{
    Call, Dialect, Prefix, Replay, Reply, ServerAnswer, claim_answer, claim_call, confirm_call,
    forget_answer, forget_call, hold_answer, release_answer, release_call, renew_call, settle_answer,
    settle_call, take_answer, take_call,
};
use tollgate_store::{
    Claim, Claimed, Claims, Confirm, Decisions, Forget, Hold, Release, Settle, Store, StoreError,
    StoreErrorKind, Take, random_id,
};

use crate::{
    RedisConfigError, RedisStoreBuilder,
    link::{Link, unusable},
    live::{Live, Lost},
    reply::answer,
};

/// Counts, and keeps claims, in a Redis or Valkey that all machines share.
///
/// A clone is the same store, on the same connection, which all stores of a process share that have one URL, one deadline and the
/// same certificates.
#[derive(Clone, Debug)]
pub struct RedisStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    link: Arc<Link>,
    prefix: Prefix,
    deadline: Duration,
    resends: u32,
}

impl RedisStore {
    /// A store at this URL, with what [`RedisStore::builder`] has unless told otherwise.
    ///
    /// Nothing is connected until the first call, so the server need not be up.
    ///
    /// # Errors
    /// Only if the URL cannot be used.
    pub fn connect(url: &str) -> Result<Self, RedisConfigError> {
        Self::builder(url).build()
    }

    /// Sets up a store at this URL: `redis://user:password@host:6379/0`, with `rediss` for TLS, or `unix:///run/redis.sock`.
    pub fn builder(url: &str) -> RedisStoreBuilder {
        RedisStoreBuilder::new(url)
    }

    pub(crate) fn new(link: Arc<Link>, prefix: Prefix, deadline: Duration, resends: u32) -> Self {
        Self { shared: Arc::new(Shared { link, prefix, deadline, resends }) }
    }

    /// What all its keys begin with.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.shared.prefix
    }

    /// How long a call may take.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        self.shared.deadline
    }
}

impl Shared {
    /// Calls a script, and once more for each resend if the connection breaks, all by the deadline.
    #[expect(clippy::disallowed_methods, reason = "a transport owns the deadline of its calls")]
    async fn call(&self, call: &Call, resends: u32) -> Result<Reply, StoreError> {
        let until = Instant::now() + self.deadline;
        let mut left = resends;
        loop {
            let live = match self.link.open() {
                Some(live) => live,
                None => match timeout_at(until, self.link.live()).await {
                    Ok(live) => live?,
                    Err(_elapsed) => return Err(self.late()),
                },
            };
            match call_once(&live, call, until).await {
                Ok(reply) => return Ok(reply),
                Err(Failed::Server(answer)) => {
                    if matches!(answer, ServerAnswer::Elsewhere(_)) {
                        live.drop_it();
                    }
                    return Err(answer.into_error());
                }
                Err(Failed::Connection(Lost::Late)) => return Err(self.late()),
                Err(Failed::Connection(Lost::Broken(error))) if left == 0 => return Err(unusable(&error)),
                Err(Failed::Connection(Lost::Broken(_))) => left -= 1,
            }
        }
    }

    fn late(&self) -> StoreError {
        let ms = self.deadline.as_millis();
        StoreError::new(StoreErrorKind::Timeout, format!("the Redis server did not answer within {ms} ms"))
    }

    /// Calls a script that may be sent again at any time: at least once more, if the connection breaks.
    async fn call_again(&self, call: &Call) -> Result<Reply, StoreError> {
        self.call(call, self.resends.max(1)).await
    }

    /// What lets this take be sent again, if it ever is.
    fn replay(&self) -> Option<Replay> {
        // All is sent by the deadline; the rest is for what is still on its way then.
        let kept = self.deadline.saturating_mul(2) + STRAGGLE;
        (self.resends > 0).then(|| Replay::new(random_id(), kept))
    }
}

/// How much longer than two deadlines an answer is remembered.
const STRAGGLE: Duration = Duration::from_secs(2);

enum Failed {
    Server(ServerAnswer),
    Connection(Lost),
}

/// Calls a script by its digest, and by its text where the server does not know it yet.
async fn call_once(live: &Live, call: &Call, until: Instant) -> Result<Reply, Failed> {
    match send(live, "EVALSHA", call.script.sha1(Dialect::Redis), call, until).await {
        Err(Failed::Server(ServerAnswer::NoScript)) => {
            send(live, "EVAL", call.script.text(Dialect::Redis), call, until).await
        }
        answer => answer,
    }
}

async fn send(live: &Live, name: &str, script: &str, call: &Call, until: Instant) -> Result<Reply, Failed> {
    let count = 3 + call.keys.len() + call.args.len();
    let bytes = script.len() + call.keys.text_len() + call.args.text_len();
    let mut command = Cmd::with_capacity(count, bytes + ROOM);
    command.arg(name).arg(script).arg(call.keys.len());
    for word in call.keys.iter().chain(call.args.iter()) {
        command.arg(word);
    }
    let value = live.send(&command, until).await.map_err(Failed::Connection)?;
    answer(value).map_err(Failed::Server)
}

/// Bytes for a command's name and its number of keys.
const ROOM: usize = 16;

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for RedisStore {
    fn take_now(&self, _: &Take<'_>) -> Option<Result<Decisions, StoreError>> {
        None
    }

    async fn take(&self, take: Take<'_>) -> Result<Decisions, StoreError> {
        let shared = &*self.shared;
        let call = take_call(&shared.prefix, &take, shared.replay())?;
        take_answer(&take, &shared.call(&call, shared.resends).await?)
    }

    async fn settle(&self, settle: Settle<'_>) -> Result<(), StoreError> {
        let call = settle_call(&self.shared.prefix, &settle)?;
        settle_answer(&self.shared.call_again(&call).await?)
    }

    async fn forget(&self, forget: Forget<'_>) -> Result<(), StoreError> {
        let call = forget_call(&self.shared.prefix, &forget)?;
        forget_answer(&self.shared.call_again(&call).await?)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for RedisStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        let call = claim_call(&self.shared.prefix, &claim)?;
        claim_answer(&claim, &self.shared.call_again(&call).await?)
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        let call = renew_call(&self.shared.prefix, &claim)?;
        hold_answer(&self.shared.call_again(&call).await?)
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        let call = confirm_call(&self.shared.prefix, &confirm)?;
        hold_answer(&self.shared.call_again(&call).await?)
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        let call = release_call(&self.shared.prefix, &release)?;
        release_answer(&self.shared.call_again(&call).await?)
    }
}
