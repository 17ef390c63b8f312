//! What webhooks have left to do, on its way to a worker.
//!
//! A queue and no more: a worker that dies loses the job it had, and its delivery, which nobody confirms, can be delivered again once
//! the lease has run out.

mod list;
mod memory;
mod upstash;

use std::{error::Error, fmt};

use serde::{Deserialize, Serialize};
use tollgate_webhook::DeliveryTicket;

use crate::Name;

/// Where jobs wait: where the store is, so that nothing more has to be set up.
#[derive(Clone)]
#[expect(clippy::exhaustive_enums, reason = "jobs wait where one of the stores is")]
pub enum JobsAt {
    /// In this process.
    Memory,
    /// In a Redis, over its own protocol.
    Redis {
        /// Its URL.
        url: String,
    },
    /// In a Redis behind Upstash's REST API.
    Upstash {
        /// The API's URL.
        url: String,
        /// Its token.
        token: String,
    },
}

/// The pages that a push names.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Job {
    /// What confirms or releases the delivery.
    #[serde(with = "as_text")]
    pub(crate) ticket: DeliveryTicket,
    /// Whose repository it is.
    pub(crate) org: Name,
    /// The names of the pages.
    pub(crate) pages: Vec<Name>,
}

/// Jobs in the order in which they came.
#[derive(Debug)]
pub(crate) enum Jobs {
    Memory(memory::Queue),
    Redis(Box<list::Queue>),
    Upstash(upstash::Queue),
}

/// The list that they wait in, in a Redis. No limit's key begins like it.
const KEY: &str = "tollgate-demo:docs-updates";

/// How long that list is kept after the last job was added: no delivery is remembered for longer.
const KEPT_SECONDS: u64 = 7 * 24 * 60 * 60;

impl JobsAt {
    /// Where the variables of the environment put the store.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| {
            let value = variable(name)?;
            let value = value.trim().trim_matches(['"', '\'', '`']).trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        for name in ["KV_REST_API", "UPSTASH_REDIS_REST"] {
            if let (Some(url), Some(token)) = (set(&format!("{name}_URL")), set(&format!("{name}_TOKEN"))) {
                return Self::Upstash { url, token };
            }
        }
        set("REDIS_URL").map_or(Self::Memory, |url| Self::Redis { url })
    }
}

/// Without URLs and tokens, which are secrets or may hold one.
impl fmt::Debug for JobsAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "Memory",
            Self::Redis { .. } => "Redis",
            Self::Upstash { .. } => "Upstash",
        })
    }
}

impl Jobs {
    /// Nothing is connected yet.
    pub(crate) fn open(at: JobsAt) -> Result<Self, JobsError> {
        Ok(match at {
            JobsAt::Memory => Self::Memory(memory::Queue::default()),
            JobsAt::Redis { url } => Self::Redis(Box::new(list::Queue::new(&url)?)),
            JobsAt::Upstash { url, token } => Self::Upstash(upstash::Queue::new(&url, &token)?),
        })
    }

    /// Puts one at the end.
    pub(crate) async fn push(&self, job: &Job) -> Result<(), JobsError> {
        let text = serde_json::to_string(job).map_err(JobsError::new)?;
        match self {
            Self::Memory(queue) => queue.push(text),
            Self::Redis(queue) => queue.push(&text).await,
            Self::Upstash(queue) => queue.push(&text).await,
        }
    }

    /// Takes the one at the front, if there is any. What is none is told and passed over.
    pub(crate) async fn pop(&self) -> Result<Option<Job>, JobsError> {
        loop {
            let text = match self {
                Self::Memory(queue) => queue.pop(),
                Self::Redis(queue) => queue.pop().await?,
                Self::Upstash(queue) => queue.pop().await?,
            };
            match text.map(|text| serde_json::from_str(&text)) {
                None => return Ok(None),
                Some(Ok(job)) => return Ok(Some(job)),
                Some(Err(error)) => {
                    tracing::warn!(error = &error as &dyn Error, "what waits in the queue is no job");
                }
            }
        }
    }

    /// Waits until it is worth looking again.
    pub(crate) async fn wait(&self) {
        match self {
            Self::Memory(queue) => queue.wait().await,
            Self::Redis(_) => list::Queue::wait().await,
            Self::Upstash(_) => upstash::Queue::wait().await,
        }
    }
}

/// A ticket is one line of text.
mod as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use tollgate_webhook::DeliveryTicket;

    pub(super) fn serialize<S: Serializer>(ticket: &DeliveryTicket, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(ticket)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DeliveryTicket, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// A queue that could not be asked. The job may be in it all the same.
#[derive(Debug)]
pub struct JobsError(Box<dyn Error + Send + Sync>);

impl JobsError {
    pub(crate) fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

impl fmt::Display for JobsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the queue of jobs cannot be used: check the variables of the store")
    }
}

impl Error for JobsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(page: &str) -> Job {
        let name = |text: &str| Name::try_from(text.to_owned()).unwrap();
        let ticket = format!("{:032x} 72d3162e 17", 7).parse().unwrap();
        Job { ticket, org: name("acme"), pages: vec![name(page)] }
    }

    #[tokio::test]
    async fn jobs_come_out_as_they_went_in_and_what_is_none_is_passed_over() {
        let jobs = Jobs::open(JobsAt::Memory).unwrap();
        assert!(jobs.pop().await.unwrap().is_none());
        jobs.push(&job("one")).await.unwrap();
        let Jobs::Memory(queue) = &jobs else { panic!("it was asked for") };
        queue.push("{}".to_owned()).unwrap();
        jobs.push(&job("two")).await.unwrap();
        // Whoever comes late is told that there is something.
        jobs.wait().await;
        for page in ["one", "two"] {
            let found = jobs.pop().await.unwrap().unwrap();
            assert_eq!((found.org.as_str(), found.pages[0].as_str()), ("acme", page));
            assert_eq!(found.ticket, job(page).ticket);
        }
        assert!(jobs.pop().await.unwrap().is_none());
    }

    #[test]
    fn jobs_wait_where_the_store_is() {
        for (set, expected) in [
            (&[][..], "Memory"),
            (&[("REDIS_URL", " ")], "Memory"),
            (&[("REDIS_URL", "'redis://127.0.0.1'")], "Redis"),
            (&[("UPSTASH_REDIS_REST_URL", "u"), ("REDIS_URL", "r")], "Redis"),
            (
                &[("UPSTASH_REDIS_REST_URL", "u"), ("UPSTASH_REDIS_REST_TOKEN", "t"), ("REDIS_URL", "r")],
                "Upstash",
            ),
            (&[("KV_REST_API_URL", "u"), ("KV_REST_API_TOKEN", "t")], "Upstash"),
        ] {
            let variable = |name: &str| {
                set.iter().find(|(other, _)| *other == name).map(|(_, value): &(_, &str)| (*value).to_owned())
            };
            assert_eq!(format!("{:?}", JobsAt::of(variable)), expected);
            let kind = tollgate::StoreKind::of(variable);
            assert_eq!(kind.to_string(), expected.to_lowercase(), "where the store is");
        }
    }
}
