//! What is logged, kept for a test to read.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tracing::{Dispatch, Level};

/// Lines that were logged at `INFO` and above.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// What has to be in force where lines are to be kept: in a thread, or with a future.
    #[must_use]
    pub fn dispatch(&self) -> Dispatch {
        let log = self.clone();
        let format = tracing_subscriber::fmt().with_ansi(false).without_time().with_max_level(Level::INFO);
        format.with_writer(move || log.clone()).finish().into()
    }

    /// The lines so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
