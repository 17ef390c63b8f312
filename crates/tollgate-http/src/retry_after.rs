//! `Retry-After`: when to come back, in whole seconds.

use http::HeaderValue;
use tollgate_core::Timestamp;

use crate::fields::seconds_up;

/// How many whole seconds after `now` a refused request would be admitted: rounded up, and at least 1.
///
/// A second too few would be refused once more, and 0 says "at once". The form is the delay-seconds of RFC 9110, section 10.2.3.
///
/// ```
/// use tollgate_guard::Timestamp;
/// use tollgate_http::retry_after_seconds;
///
/// let now = Timestamp::from_unix_ms(1_700_000_000_000);
/// assert_eq!(retry_after_seconds(now.saturating_add_ms(1_900), now), 2);
/// assert_eq!(retry_after_seconds(now, now), 1);
/// ```
#[must_use]
pub fn retry_after_seconds(retry_at: Timestamp, now: Timestamp) -> u64 {
    seconds_up(retry_at.unix_ms().saturating_sub(now.unix_ms())).max(1)
}

/// [`retry_after_seconds`] as the value of the field.
#[must_use]
pub fn retry_after(retry_at: Timestamp, now: Timestamp) -> HeaderValue {
    HeaderValue::from(retry_after_seconds(retry_at, now))
}
