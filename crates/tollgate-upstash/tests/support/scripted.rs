//! A transport without a network, so that a test can let time pass at will.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::Value;
use tokio::time::Instant;
use tollgate_upstash::{Credentials, Transport, TransportError, UpstashStore, UpstashStoreBuilder};

use super::{TOKEN, untouched};

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// Each command is answered as [`untouched`] says.
    Answer,
    /// This status without a body.
    Status(u16),
    /// A broken connection.
    Break,
    /// Nothing, ever.
    Silence,
}

/// Requests meet their fates in order, each after a time; those after the last are answered at once.
#[derive(Clone, Debug)]
pub(crate) struct Scripted {
    fates: Arc<Mutex<VecDeque<(Duration, Fate)>>>,
    sent: Arc<Mutex<Vec<(Duration, Bytes)>>>,
    began: Instant,
}

impl Scripted {
    /// Each fate with the milliseconds until then.
    pub(crate) fn new(fates: impl IntoIterator<Item = (u64, Fate)>) -> Self {
        let fates = fates.into_iter().map(|(ms, fate)| (Duration::from_millis(ms), fate)).collect();
        Self { fates: Arc::new(Mutex::new(fates)), sent: Arc::default(), began: Instant::now() }
    }

    pub(crate) fn builder(&self) -> UpstashStoreBuilder {
        let credentials = Credentials::new("http://localhost", TOKEN).unwrap();
        UpstashStore::builder(credentials).transport(self.clone())
    }

    /// When each request was sent, in milliseconds.
    pub(crate) fn times(&self) -> Vec<u128> {
        self.sent.lock().unwrap().iter().map(|(after, _)| after.as_millis()).collect()
    }

    pub(crate) fn bodies(&self) -> Vec<Bytes> {
        self.sent.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }
}

#[async_trait]
impl Transport for Scripted {
    #[expect(clippy::disallowed_methods, reason = "time that a test lets pass")]
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self.sent.lock().unwrap().push((self.began.elapsed(), request.body().clone()));
        let (after, fate) = self.fates.lock().unwrap().pop_front().unwrap_or((Duration::ZERO, Fate::Answer));
        tokio::time::sleep(after).await;
        let mut response = Response::new(Bytes::new());
        match fate {
            Fate::Answer => *response.body_mut() = answer(&request).to_string().into(),
            Fate::Status(status) => *response.status_mut() = StatusCode::from_u16(status).unwrap(),
            Fate::Break => return Err(TransportError::broken("connection reset")),
            Fate::Silence => std::future::pending().await,
        }
        Ok(response)
    }
}

fn answer(request: &Request<Bytes>) -> Value {
    let body: Value = serde_json::from_slice(request.body()).unwrap();
    if request.uri().path() == "/" {
        untouched(&body)
    } else {
        body.as_array().unwrap().iter().map(untouched).collect()
    }
}
