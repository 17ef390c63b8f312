//! A queue in this process.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::JobsError;

#[derive(Debug, Default)]
pub(crate) struct Queue {
    texts: Mutex<VecDeque<String>>,
    added: Notify,
}

/// The most jobs that wait.
const MOST: usize = 1_000;

impl Queue {
    pub(super) fn push(&self, text: String) -> Result<(), JobsError> {
        let mut texts = self.texts.lock();
        if texts.len() >= MOST {
            return Err(JobsError::new("as many jobs wait as may be"));
        }
        texts.push_back(text);
        self.added.notify_one();
        Ok(())
    }

    pub(super) fn pop(&self) -> Option<String> {
        self.texts.lock().pop_front()
    }

    /// Until something was added, also if that was before.
    pub(super) async fn wait(&self) {
        self.added.notified().await;
    }
}
