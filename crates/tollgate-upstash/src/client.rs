//! Sends commands: tries, deadline and what a server may say in between.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, Uri, header};
use parking_lot::Mutex;
use tokio::time::Instant;
use tollgate_script::{Call, Prefix, Reply, ServerAnswer, server_error};
use tollgate_store::{StoreError, StoreErrorKind};

use crate::{
    Credentials, Transport, batch,
    command::{Command, Form},
    failure::Failure,
    queue::{Queue, Work},
    reply::{Answer, NO_ANSWER},
    response,
    service_error::service_error,
    singles::Singles,
    timer::{pause, within},
    together::Taking,
};

/// How often a request is sent again, at most.
pub(crate) const MORE_TRIES: u32 = 2;

const SYNC_TOKEN: &str = "upstash-sync-token";

/// A database, as all stores of a process that use it with one token share it.
pub(crate) struct Client {
    transport: Arc<dyn Transport>,
    credentials: Credentials,
    /// What the service said last about how far it is; said back, it makes the next answer at least that new.
    sync_token: Mutex<Option<HeaderValue>>,
    queue: Queue,
    singles: Singles,
    /// Until when takes of different callers go as commands of their own.
    apart_until: Mutex<Option<Instant>>,
}

/// For how long takes go apart after a command of several was refused as a whole. Whatever is the reason may be there for ever, and
/// costs each such command a second request.
const APART: Duration = Duration::from_secs(1);

/// How a call is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// From the first try to the end of the last.
    pub(crate) deadline: Duration,
    /// Whether it may share a request with other calls.
    pub(crate) batching: bool,
}

impl Client {
    pub(crate) fn new(credentials: Credentials, transport: Arc<dyn Transport>) -> Self {
        Self {
            transport,
            credentials,
            sync_token: Mutex::new(None),
            queue: Queue::default(),
            singles: Singles::new(),
            apart_until: Mutex::new(None),
        }
    }

    /// Whether one command may make takes of several callers now.
    pub(crate) fn shares_commands(&self, now: Instant) -> bool {
        self.apart_until.lock().is_none_or(|until| until <= now)
    }

    /// A command that made takes of several callers was refused as a whole.
    pub(crate) fn send_apart_from(&self, now: Instant) {
        *self.apart_until.lock() = Some(now + APART);
    }

    pub(crate) const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Has takes made, once however often they are sent. In a batch, those of several callers can go as one command.
    pub(crate) async fn take(
        self: &Arc<Self>,
        call: Call,
        prefix: &Prefix,
        keep: Duration,
        manner: Manner,
    ) -> Result<Reply, StoreError> {
        let taking = Taking::new(call, prefix.clone(), keep);
        let work = if manner.batching { Work::Take(Arc::new(taking)) } else { Work::Command(taking.alone()) };
        self.carry_out(work, manner).await
    }

    /// Has a call carried out.
    pub(crate) async fn call(self: &Arc<Self>, call: &Call, manner: Manner) -> Result<Reply, StoreError> {
        self.carry_out(Work::Command(Command::of(call)), manner).await
    }

    /// Has work done.
    ///
    /// A server that does not know the script is sent its text at once. Where the service was not reached, or is not there just
    /// now, the same command is sent again; whoever makes commands sees to it that they can be.
    async fn carry_out(self: &Arc<Self>, work: Work, manner: Manner) -> Result<Reply, StoreError> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(StoreError::misuse("a store over HTTP must be used within a Tokio runtime"));
        }
        let until = Instant::now() + manner.deadline;
        let mut form = Form::Digest;
        let mut tries_left = MORE_TRIES;
        let mut failed: Option<Failure> = None;
        loop {
            let is_sent = Arc::new(AtomicBool::new(false));
            let attempt = self.attempt(&work, form, until, manner.batching, &is_sent);
            let late = || if is_sent.load(Ordering::Acquire) { Failure::Elapsed } else { Failure::Unsent };
            match within(until, attempt).await.unwrap_or_else(|| Err(late())) {
                Ok(Answer::Reply(reply)) => return Ok(reply),
                Ok(Answer::Error(text)) => match (self.meaning(&text), form.next()) {
                    (ServerAnswer::NoScript, Some(next)) => form = next,
                    (answer, _) => return Err(answer.into_error()),
                },
                Ok(Answer::Apart) => {
                    if let Work::Take(taking) = &work {
                        taking.go_apart();
                    }
                    form = Form::Digest;
                }
                // What was sent before, and failed, may have been counted.
                Err(Failure::Unsent) if failed.is_none() => return Err(Failure::Unsent.into()),
                Err(Failure::Elapsed | Failure::Unsent) => {
                    return Err(out_of_time(manner.deadline, failed));
                }
                Err(failure) => {
                    let again = tries_left > 0 && failure.is_retriable() && pause(until).await;
                    if !again {
                        return Err(failure.into());
                    }
                    tries_left -= 1;
                    failed = Some(failure);
                }
            }
        }
    }

    /// One try.
    async fn attempt(
        self: &Arc<Self>,
        work: &Work,
        form: Form,
        until: Instant,
        batching: bool,
        is_sent: &Arc<AtomicBool>,
    ) -> Result<Answer, Failure> {
        let command = match work {
            Work::Command(command) if !batching => command,
            _ => return batch::call(self, work.clone(), form, until, Arc::clone(is_sent)).await,
        };
        let _turn = self.singles.turn(until).await?;
        is_sent.store(true, Ordering::Release);
        let at = Instant::now();
        let mut body = Vec::with_capacity(command.len());
        command.write(&mut body, form != Form::Digest);
        let answer = self.send_one(body).await?;
        self.singles.answered(at.elapsed());
        Answer::read(&answer).ok_or(Failure::Garbage(NO_ANSWER))
    }

    /// What an error text means. Whoever answers may repeat what was sent, so no words are kept before the token is out of them.
    fn meaning(&self, text: &str) -> ServerAnswer {
        if let Some(error) = service_error(text) {
            return ServerAnswer::Error(error);
        }
        match server_error(text) {
            ServerAnswer::NoScript => ServerAnswer::NoScript,
            _ => server_error(&self.credentials.token().conceal(text)),
        }
    }

    /// Sends one command by itself.
    pub(crate) async fn send_one(&self, body: Vec<u8>) -> Result<Bytes, Failure> {
        response::of_one(self.post(&self.credentials.base().single, body).await?)
    }

    /// Sends an array of `count` commands.
    pub(crate) async fn send_many(&self, body: Vec<u8>, count: usize) -> Result<Vec<Bytes>, Failure> {
        response::of_many(self.post(&self.credentials.base().pipeline, body).await?, count)
    }

    async fn post(&self, uri: &Uri, body: Vec<u8>) -> Result<Response<Bytes>, Failure> {
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri.clone();
        let headers = request.headers_mut();
        headers.insert(header::AUTHORIZATION, self.credentials.token().authorization().clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("upstash-encoding", HeaderValue::from_static("base64"));
        if let Some(token) = self.sync_token.lock().clone() {
            headers.insert(SYNC_TOKEN, token);
        }
        let response =
            self.transport.send(request).await.map_err(|error| Failure::Transport(Arc::new(error)))?;
        if let Some(token) = response.headers().get(SYNC_TOKEN).filter(|token| !token.is_empty()) {
            *self.sync_token.lock() = Some(token.clone());
        }
        Ok(response)
    }
}

/// What waits in the queue holds keys, and keys hold addresses of visitors: it is left out.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("credentials", &self.credentials)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

#[cold]
fn out_of_time(deadline: Duration, failed: Option<Failure>) -> StoreError {
    let detail = format!("given up after {} ms; the charge may have been counted", deadline.as_millis());
    let error = StoreError::new(StoreErrorKind::Timeout, detail);
    match failed {
        Some(failure) => error.caused_by(StoreError::from(failure)),
        None => error,
    }
}
