//! The only places where time passes: the deadline of a call, and the pause between two tries.

use std::time::Duration;

use tokio::time::Instant;

/// How long to wait before a request is sent again.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// What `work` comes to, or nothing if it is not done by then.
#[expect(clippy::disallowed_methods, reason = "a transport owns the deadline of its calls")]
pub(crate) async fn within<T>(until: Instant, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout_at(until, work).await.ok()
}

/// Waits for [`PAUSE`], if there is any time left after it.
#[expect(clippy::disallowed_methods, reason = "a transport waits between two tries")]
pub(crate) async fn pause(until: Instant) -> bool {
    let end = Instant::now() + PAUSE;
    let in_time = end < until;
    if in_time {
        tokio::time::sleep_until(end).await;
    }
    in_time
}
