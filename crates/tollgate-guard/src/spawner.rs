//! How settlements run that nobody waits for.

use std::{fmt, pin::Pin};

/// A settlement that nobody waits for: to be run to its end.
///
/// Dropped before its end, it leaves what was taken spent, and a warning is logged.
pub type SettleTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Hands tasks to whatever runs them.
pub(crate) struct Spawner(Box<dyn Fn(SettleTask) + Send + Sync>);

impl Spawner {
    pub(crate) fn new(spawn: impl Fn(SettleTask) + Send + Sync + 'static) -> Self {
        Self(Box::new(spawn))
    }

    pub(crate) fn spawn(&self, task: SettleTask) {
        (self.0)(task);
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spawner(..)")
    }
}

/// A spawner on Tokio, for [`GuardBuilder::spawner`](crate::GuardBuilder::spawner).
///
/// A task runs on the runtime that a reservation is dropped in, else on the one this was called in. Without either, what was taken
/// stays spent, and a warning is logged; nothing panics.
#[cfg(feature = "tokio")]
pub fn tokio_spawner() -> impl Fn(SettleTask) + Send + Sync + 'static {
    use tokio::runtime::Handle;

    let here = Handle::try_current().ok();
    move |task| {
        if let Some(runtime) = Handle::try_current().ok().or_else(|| here.clone()) {
            runtime.spawn(task);
        }
    }
}
