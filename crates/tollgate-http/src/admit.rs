//! An outcome as an answer: what goes on with more fields, and what is refused.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use tollgate_core::Timestamp;
use tollgate_guard::{Outage, Outcome, Pass, Refusal, Reservation};

use crate::{PROBLEM_JSON, fields::Fields, problem, retry_after};

/// Turns an outcome into what a handler returns: the request goes on, or here is its answer.
///
/// For handlers that must read the body before they know what to charge; others stand behind a
/// [`GuardLayer`](crate::GuardLayer). `now` is the time that waits are told from: [`Guard::now`](tollgate_guard::Guard::now).
///
/// ```
/// # use tollgate_guard::{Guard, Limit, OnOutage, Policy, Window};
/// # use tollgate_memory::MemoryStore;
/// use tollgate_http::admit;
///
/// const ASK: Policy<1> = Policy::new("ask", Limit::fixed(1, Window::DAY), OnOutage::Deny);
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let guard = Guard::builder(MemoryStore::new()).policy(ASK).build()?;
/// let passed = admit(guard.check(&[ASK.charge("203.0.113.7")]).await, guard.now()).expect("one a day");
/// let mut response = http::Response::new("the answer");
/// passed.apply(response.headers_mut());
/// assert_eq!(response.headers()["ratelimit-policy"], r#""ask";q=1;w=86400"#);
///
/// let refused = admit(guard.check(&[ASK.charge("203.0.113.7")]).await, guard.now()).unwrap_err();
/// let response: http::Response<Vec<u8>> = refused.into_response();
/// assert_eq!(response.status(), 429);
/// # Ok::<(), tollgate_guard::GuardError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Only if the outcome is not [`Outcome::Allow`]; the error is the answer to give.
pub fn admit<P: AsRef<Pass>>(outcome: Outcome<P>, now: Timestamp) -> Result<Passed<P>, Refused> {
    match outcome {
        Outcome::Allow(pass) => Ok(Passed { pass, now, legacy: false }),
        Outcome::Deny(refusal) => Err(Refused::new(Cause::Limit(Box::new(refusal)), now)),
        Outcome::Unavailable(outage) => Err(Refused::new(Cause::Outage(outage), now)),
    }
}

/// A request that goes on, and the fields its response carries.
///
/// With the feature `axum`, a handler returns it in front of its response: `(passed, Json(answer))`. One with a
/// [`Reservation`] is [taken apart](Passed::into_parts) first.
#[derive(Clone, Debug)]
#[must_use = "its fields belong on the response"]
pub struct Passed<P = Pass> {
    pass: P,
    now: Timestamp,
    legacy: bool,
}

impl Passed<Reservation> {
    /// The fields for the response, and the reservation to settle or to give to a [`MeteredBody`](crate::MeteredBody).
    #[must_use = "a reservation that is dropped stays spent"]
    pub fn into_parts(self) -> (Passed, Reservation) {
        let Self { pass, now, legacy } = self;
        (Passed { pass: pass.pass().clone(), now, legacy }, pass)
    }
}

impl<P: AsRef<Pass>> Passed<P> {
    /// The pass behind it: what was decided, and what a refund needs.
    #[must_use]
    pub fn pass(&self) -> &Pass {
        self.pass.as_ref()
    }

    /// The pass or the reservation behind it, without the fields.
    #[must_use]
    pub fn into_pass(self) -> P {
        self.pass
    }

    /// The same with `X-RateLimit-Limit`, `-Remaining` and `-Reset` too, for clients that read nothing newer.
    ///
    /// They speak of one policy: the one that refuses for longest, else the one with the least left. `-Reset` is in Unix seconds,
    /// rounded up. There is no standard for them.
    pub fn with_legacy_fields(mut self) -> Self {
        self.legacy = true;
        self
    }

    /// Adds `RateLimit-Policy` and `RateLimit` to the headers of a response.
    ///
    /// Both are lists that may span several lines, so what is there already stays. The older fields are only added if there are
    /// none.
    pub fn apply(&self, headers: &mut HeaderMap) {
        self.fields().append_to(headers);
    }

    pub(crate) fn fields(&self) -> Fields {
        Fields::new(self.pass().decisions(), self.now, self.legacy)
    }
}

/// A request that is refused: a status, fields, and a problem body.
///
/// | why | status | `Retry-After` | problem type |
/// |---|---|---|---|
/// | a limit is reached | 429 | until all that refuse would admit it; none if that is never | [`QUOTA_EXCEEDED`](crate::QUOTA_EXCEEDED) |
/// | the store is gone | 503 | [`Outage::RETRY_AFTER`] | [`TEMPORARY_REDUCED_CAPACITY`](crate::TEMPORARY_REDUCED_CAPACITY) |
/// | the check is wrong | 500 | none: only a change of the program helps | `about:blank` |
///
/// The body of a 429 names the policies that refuse in `violated-policies`, hidden ones aside, so that the list may be empty. No refusal
/// may be cached. Its text names neither a visitor nor a key.
#[derive(Clone, Debug)]
#[must_use = "a refusal is an answer to send"]
pub struct Refused {
    cause: Cause,
    now: Timestamp,
    legacy: bool,
}

#[derive(Clone, Debug)]
enum Cause {
    /// Boxed, so that a `Result` with a refusal stays small.
    Limit(Box<Refusal>),
    Outage(Outage),
}

/// RFC 6585 forbids caches to keep a 429, but not all of them know.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

impl Refused {
    const fn new(cause: Cause, now: Timestamp) -> Self {
        Self { cause, now, legacy: false }
    }

    /// The refusal behind it, if a limit is reached.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.cause {
            Cause::Limit(refusal) => Some(refusal),
            Cause::Outage(_) => None,
        }
    }

    /// The outage behind it, if the limits could not be checked.
    #[must_use]
    pub fn outage(&self) -> Option<&Outage> {
        match &self.cause {
            Cause::Limit(_) => None,
            Cause::Outage(outage) => Some(outage),
        }
    }

    /// The same with the older fields too: see [`Passed::with_legacy_fields`].
    pub fn with_legacy_fields(mut self) -> Self {
        self.legacy = true;
        self
    }

    /// The status to answer with.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match &self.cause {
            Cause::Limit(_) => StatusCode::TOO_MANY_REQUESTS,
            Cause::Outage(outage) => problem::outage_status(outage),
        }
    }

    /// When to try again; `None` if that does not help.
    #[must_use]
    pub fn retry_at(&self) -> Option<Timestamp> {
        match &self.cause {
            Cause::Limit(refusal) => refusal.retry_at(),
            Cause::Outage(outage) => {
                (self.status() == StatusCode::SERVICE_UNAVAILABLE).then(|| outage.retry_at())
            }
        }
    }

    /// The problem, as JSON.
    #[must_use]
    pub fn body(&self) -> Bytes {
        match &self.cause {
            Cause::Limit(refusal) => problem::quota_exceeded(refusal, self.now),
            Cause::Outage(outage) => problem::outage(outage, self.now),
        }
    }

    /// Adds the fields of a refusal to the headers of another response, where they are missing: `Retry-After`,
    /// `RateLimit-Policy`, `RateLimit`, and `Cache-Control: no-store`.
    pub fn apply(&self, headers: &mut HeaderMap) {
        let Self { cause, now, legacy } = self;
        if let Cause::Limit(refusal) = cause {
            Fields::new(refusal.decisions(), *now, *legacy).fill_in(headers);
        }
        if let Some(retry_at) = self.retry_at() {
            headers.entry(header::RETRY_AFTER).or_insert_with(|| retry_after(retry_at, *now));
        }
        headers.entry(header::CACHE_CONTROL).or_insert(NO_STORE);
    }

    /// The answer, whole.
    pub fn into_response<B: From<Bytes>>(self) -> Response<B> {
        let mut response = Response::new(B::from(self.body()));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
        headers.insert(header::CACHE_CONTROL, NO_STORE);
        if let Some(retry_at) = self.retry_at() {
            headers.insert(header::RETRY_AFTER, retry_after(retry_at, self.now));
        }
        if let Cause::Limit(refusal) = &self.cause {
            Fields::new(refusal.decisions(), self.now, self.legacy).append_to(headers);
        }
        response
    }
}
