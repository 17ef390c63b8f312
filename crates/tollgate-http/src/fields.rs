//! The fields `RateLimit-Policy` and `RateLimit`, and the older `X-RateLimit-*`.

use http::{HeaderMap, HeaderName, HeaderValue};
use sfv::{Integer, KeyRef, ListSerializer, StringRef};
use tollgate_core::Timestamp;
use tollgate_guard::PolicyDecision;

/// `RateLimit-Policy`: which quotas there are.
pub const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// `RateLimit`: what is left of them.
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

const LEGACY: [HeaderName; 3] = [
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

const Q: &KeyRef = KeyRef::constant("q");
const W: &KeyRef = KeyRef::constant("w");
const R: &KeyRef = KeyRef::constant("r");
const T: &KeyRef = KeyRef::constant("t");

/// What a member takes besides its name: two parameters of usual size.
const MEMBER_BYTES: usize = 24;

/// The value of `RateLimit-Policy` for these decisions: `"ask-burst";q=20;w=60, "ask";q=15;w=86400`.
///
/// `q` is the quota and `w` the window in whole seconds, rounded up, so at least 1; of a bucket, its capacity and the time an empty
/// one takes to be full. Numbers stop at 999,999,999,999,999, the largest that a field can hold. Hidden policies are left
/// out, and so are shadows: they refuse nothing. `None` if nothing is left to say.
///
/// The field is the List of draft-ietf-httpapi-ratelimit-headers-11, section 3, in the syntax of RFC 9651.
#[must_use]
pub fn rate_limit_policy(decisions: &[PolicyDecision]) -> Option<HeaderValue> {
    list(decisions, |said| [(Q, said.decision().quota().get()), (W, seconds_up(said.period().ms()))])
}

/// The value of `RateLimit` for these decisions at this time: `"ask-burst";r=19;t=12, "ask";r=0;t=39712`.
///
/// `r` is what remains, never below 0. `t` is in whole seconds, rounded up: until the same charge would fit where a policy
/// refuses it, else until the window ends or the bucket is next refilled. Numbers and omissions as in [`rate_limit_policy`].
#[must_use]
pub fn rate_limit(decisions: &[PolicyDecision], now: Timestamp) -> Option<HeaderValue> {
    list(decisions, |said| {
        let decision = said.decision();
        let until = decision.retry_at().unwrap_or_else(|| decision.reset_at());
        let wait_ms = until.unix_ms().saturating_sub(now.unix_ms());
        [(R, decision.remaining()), (T, seconds_up(wait_ms))]
    })
}

/// The fields of one outcome, rendered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    policy: Option<HeaderValue>,
    limit: Option<HeaderValue>,
    legacy: Option<[u64; 3]>,
}

impl Fields {
    pub(crate) fn new(decisions: &[PolicyDecision], now: Timestamp, legacy: bool) -> Self {
        Self {
            policy: rate_limit_policy(decisions),
            limit: rate_limit(decisions, now),
            legacy: if legacy { closest(decisions).map(legacy_values) } else { None },
        }
    }

    /// Adds the fields to those that are there. Both are Lists, which may span lines, so what another layer or the handler has said
    /// stays; of the older ones, which have one value, the first set stays.
    pub(crate) fn append_to(self, headers: &mut HeaderMap) {
        if let Some(policy) = self.policy {
            headers.append(RATE_LIMIT_POLICY, policy);
        }
        if let Some(limit) = self.limit {
            headers.append(RATE_LIMIT, limit);
        }
        insert_legacy(self.legacy, headers);
    }

    /// Adds the fields that are not there at all.
    pub(crate) fn fill_in(self, headers: &mut HeaderMap) {
        for (name, value) in [(RATE_LIMIT_POLICY, self.policy), (RATE_LIMIT, self.limit)] {
            if let Some(value) = value {
                headers.entry(name).or_insert(value);
            }
        }
        insert_legacy(self.legacy, headers);
    }
}

fn insert_legacy(values: Option<[u64; 3]>, headers: &mut HeaderMap) {
    if let Some(values) = values
        && !LEGACY.iter().any(|name| headers.contains_key(name))
    {
        for (name, value) in LEGACY.into_iter().zip(values) {
            headers.insert(name, HeaderValue::from(value));
        }
    }
}

/// Quota, what remains, and the end of the window in Unix seconds.
fn legacy_values(said: &PolicyDecision) -> [u64; 3] {
    let decision = said.decision();
    let until = decision.retry_at().unwrap_or_else(|| decision.reset_at());
    [decision.quota().get(), decision.remaining(), seconds_up(until.unix_ms())]
}

/// The policy that refuses for longest, else the one with the least left.
fn closest(decisions: &[PolicyDecision]) -> Option<&PolicyDecision> {
    decisions.iter().filter(|said| is_public(said)).max_by_key(|said| {
        let decision = said.decision();
        // A refusal with no end outlasts any other.
        let refused_until = said.refuses().then(|| decision.retry_at().unwrap_or(Timestamp::MAX));
        (refused_until, std::cmp::Reverse(decision.remaining()), decision.reset_at())
    })
}

/// A shadow refuses nothing: a client that obeyed its `r=0` would wait for nothing.
fn is_public(said: &PolicyDecision) -> bool {
    !said.is_hidden() && said.is_enforced()
}

fn list(
    decisions: &[PolicyDecision],
    parameters: impl Fn(&PolicyDecision) -> [(&'static KeyRef, u64); 2],
) -> Option<HeaderValue> {
    let said = || decisions.iter().filter(|said| is_public(said));
    let bytes = said().map(|said| said.policy().len() + MEMBER_BYTES).sum();
    let mut value = String::with_capacity(bytes);
    let mut list = ListSerializer::with_buffer(&mut value);
    for said in said() {
        // The name of a policy is lower-case ASCII, so this is always a String of the syntax; anything else must not become a field.
        let Ok(name) = StringRef::from_str(said.policy()) else { continue };
        let mut member = list.bare_item(name);
        for (key, value) in parameters(said) {
            member = member.parameter(key, integer(value));
        }
    }
    list.finish()?;
    HeaderValue::try_from(value).ok()
}

/// The nearest integer that a field can hold: 15 digits.
fn integer(value: u64) -> Integer {
    Integer::try_from(value).unwrap_or(Integer::MAX)
}

/// Whole seconds, rounded up: a client that comes early is refused once more.
pub(crate) const fn seconds_up(ms: u64) -> u64 {
    ms.div_ceil(1_000)
}
