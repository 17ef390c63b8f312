//! The same list over Upstash's REST API, in the same words.

use std::time::Duration;

use reqwest::{Client, Url, header::HeaderValue};
use serde_json::{Value, json};

use super::{JobsError, KEPT_SECONDS, KEY};

pub(crate) struct Queue {
    client: Client,
    endpoint: Url,
    authorization: HeaderValue,
}

/// How long an empty list is left alone: each look is a command that is paid for.
const PAUSE: Duration = Duration::from_secs(2);

/// How long one call may take.
const DEADLINE: Duration = Duration::from_secs(5);

impl Queue {
    pub(super) fn new(url: &str, token: &str) -> Result<Self, JobsError> {
        let endpoint = format!("{}/multi-exec", url.trim_end_matches('/'));
        let endpoint = Url::parse(&endpoint).map_err(JobsError::new)?;
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}")).map_err(JobsError::new)?;
        authorization.set_sensitive(true);
        let client = crate::http_client().timeout(DEADLINE).build();
        let client = client.map_err(|error| JobsError::new(error.without_url()))?;
        Ok(Self { client, endpoint, authorization })
    }

    pub(super) async fn push(&self, text: &str) -> Result<(), JobsError> {
        let answers = self.ask(&json!([["LPUSH", KEY, text], ["EXPIRE", KEY, KEPT_SECONDS]])).await?;
        if answers[0]["result"].is_u64() { Ok(()) } else { Err(JobsError::new("the job was not taken")) }
    }

    pub(super) async fn pop(&self) -> Result<Option<String>, JobsError> {
        let answers = self.ask(&json!([["RPOP", KEY]])).await?;
        match &answers[0]["result"] {
            Value::String(text) => Ok(Some(text.clone())),
            Value::Null if answers[0].get("result").is_some() => Ok(None),
            _ => Err(JobsError::new("the list of jobs cannot be read")),
        }
    }

    async fn ask(&self, commands: &Value) -> Result<Value, JobsError> {
        let failed = |error: reqwest::Error| JobsError::new(error.without_url());
        let request = self.client.post(self.endpoint.clone()).body(commands.to_string());
        let request = request.header(reqwest::header::AUTHORIZATION, self.authorization.clone());
        let request = request.header(reqwest::header::CONTENT_TYPE, "application/json");
        let response = request.send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        let body = response.bytes().await.map_err(failed)?;
        serde_json::from_slice(&body).map_err(JobsError::new)
    }

    #[expect(clippy::disallowed_methods, reason = "when to look again is no decision of a limit")]
    pub(super) async fn wait() {
        tokio::time::sleep(PAUSE).await;
    }
}

/// Without the address and the token.
impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}
