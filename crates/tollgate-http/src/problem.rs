//! Problem bodies: `application/problem+json` of RFC 9457.

use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use serde::{Serialize, Serializer};
use tollgate_core::Timestamp;
use tollgate_guard::{Outage, OutageReason, PolicyDecision, Refusal};

use crate::retry_after_seconds;

/// The problem type of a refusal by a limit, answered with 429.
pub const QUOTA_EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/// The problem type of a refusal because the limits cannot be checked, answered with 503: no limit is
/// known to be reached.
pub const TEMPORARY_REDUCED_CAPACITY: &str =
    "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";

/// The media type of a problem body.
pub const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// A body of usual size.
const BODY_BYTES: usize = 288;

/// The members of a problem, in the order they are written.
#[derive(Serialize)]
struct Problem<'a, D: fmt::Display> {
    /// Left out, it means `about:blank`: the status says it all.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    title: &'a str,
    status: u16,
    #[serde(serialize_with = "as_text")]
    detail: D,
    #[serde(rename = "violated-policies", skip_serializing_if = "Option::is_none")]
    violated: Option<[&'a str; 0]>,
}

/// The body of a 429, put together by hand: refusing must not cost more than admitting, and a flood of refused requests writes
/// this one. All of it is our own text, digits, and names of policies, and JSON escapes nothing in those.
pub(crate) fn quota_exceeded(refusal: &Refusal, now: Timestamp) -> Bytes {
    let names = || named(refusal.decisions());
    let mut json = String::with_capacity(BODY_BYTES);
    json.push_str(r#"{"type":""#);
    json.push_str(QUOTA_EXCEEDED);
    json.push_str(r#"","title":"Quota exceeded","status":429,"detail":"A limit is reached"#);
    for (at, name) in names().enumerate() {
        json.push_str(if at == 0 { ": " } else { ", " });
        json.push_str(name);
    }
    match refusal.retry_at() {
        Some(retry_at) => {
            json.push_str(". Try again in ");
            json.push_str(itoa::Buffer::new().format(retry_after_seconds(retry_at, now)));
            json.push_str(" s.");
        }
        None => {
            json.push_str(
                ". Trying again does not help: the request asks for more than the limit ever allows.",
            );
        }
    }
    json.push_str(r#"","violated-policies":["#);
    for (at, name) in names().enumerate() {
        json.push_str(if at == 0 { "\"" } else { "\",\"" });
        json.push_str(name);
    }
    json.push_str(if names().next().is_some() { "\"]}" } else { "]}" });
    json.into()
}

/// The status of an answer to a request that could not be checked: a fault of the program is 500, since trying again does not help.
pub(crate) fn outage_status(outage: &Outage) -> StatusCode {
    match outage.reason() {
        OutageReason::Misuse => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The body of a 503, or of a 500 where the program is at fault.
pub(crate) fn outage(outage: &Outage, now: Timestamp) -> Bytes {
    let status = outage_status(outage);
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        return plain(status, "The limits of this request could not be checked: the server is at fault.");
    }
    let seconds = retry_after_seconds(outage.retry_at(), now);
    body(&Problem {
        kind: Some(TEMPORARY_REDUCED_CAPACITY),
        title: "Temporarily reduced capacity",
        status: status.as_u16(),
        detail: format_args!("The limits cannot be checked just now. Try again in {seconds} s."),
        violated: Some([]),
    })
}

/// A problem that its status names.
pub(crate) fn plain(status: StatusCode, detail: impl fmt::Display) -> Bytes {
    let title = status.canonical_reason().unwrap_or("Unknown");
    body(&Problem { kind: None, title, status: status.as_u16(), detail, violated: None })
}

fn body<D: fmt::Display>(problem: &Problem<'_, D>) -> Bytes {
    let mut json = Vec::with_capacity(BODY_BYTES);
    // Texts, a number and a list: writing them to memory has nothing to fail at, and an empty body is still an answer.
    if serde_json::to_writer(&mut json, problem).is_err() {
        json.clear();
    }
    json.into()
}

fn as_text<D: fmt::Display, S: Serializer>(detail: &D, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(detail)
}

/// The names of the policies that refuse and are not hidden.
fn named(decisions: &[PolicyDecision]) -> impl Iterator<Item = &str> {
    decisions.iter().filter(|said| said.refuses() && !said.is_hidden()).map(|said| &**said.policy())
}
