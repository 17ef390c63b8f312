//! Waiting for what has to come, and no longer than it may take.

use std::time::Duration;

use tokio::time::Instant;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_millis(5);

/// Waits until it holds.
#[expect(
    clippy::disallowed_methods,
    reason = "what comes of its own is only to be asked for again and again"
)]
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
