//! The commands that wait for a request to take them along.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::{sync::oneshot, time::Instant};

use crate::{
    command::{Command, Form},
    failure::Failure,
};

/// Requests in flight at once. With fewer, a service that is far away keeps callers waiting; with the pause before each request,
/// more do no harm.
const MOST_REQUESTS: usize = 16;

/// Commands in one request: what the service's own clients send at most.
const MOST_COMMANDS: usize = 1_000;

/// Bytes in one request, give or take one command: far below the smallest bound of the service.
const MOST_BYTES: usize = 1024 * 1024;

/// How long a sender may be about to gather before another one takes its place: its worker thread may be busy with what does not
/// yield, and nobody else's calls are to wait for that.
const PATIENCE: Duration = Duration::from_millis(5);

/// A command of a caller who waits for its answer.
pub(crate) struct Job {
    pub(crate) command: Command,
    pub(crate) form: Form,
    /// When its caller gives up.
    pub(crate) until: Instant,
    pub(crate) answer: oneshot::Sender<Result<Bytes, Failure>>,
}

impl Job {
    /// About how long it is in a request, if it is not the one that brings a text for others.
    fn len(&self) -> usize {
        let text = if self.form == Form::Text { self.command.script.text.len() } else { 0 };
        self.command.len() + text
    }
}

/// The commands that wait, and who is about to fetch them.
///
/// One sender is gathering at a time: it has been started and lets others add their commands before it takes them all. At most
/// [`MOST_REQUESTS`] senders exist.
#[derive(Default)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// Until when the sender that is gathering is waited for.
    gathering: Option<Instant>,
    senders: usize,
}

impl State {
    /// Makes room for one more sender if there is work for it.
    fn start(&mut self) -> bool {
        if self.waiting.is_empty() || self.senders == MOST_REQUESTS {
            return false;
        }
        let now = Instant::now();
        let start = self.gathering.is_none_or(|until| until < now);
        if start {
            self.gathering = Some(now + PATIENCE);
            self.senders += 1;
        }
        start
    }
}

impl Queue {
    /// Adds a command. If a sender has to be started for it, here is its place.
    pub(crate) fn push(&self, job: Job) -> bool {
        let mut state = self.0.lock();
        state.waiting.push_back(job);
        state.start()
    }

    /// Ends the gathering of a sender: what it is to send, and whether another sender has to be started for the rest. Commands
    /// whose callers no longer wait are left out, and so never sent.
    pub(crate) fn gather(&self) -> (Vec<Job>, bool) {
        let mut batch = Vec::new();
        let mut bytes = 0;
        let mut state = self.0.lock();
        while batch.len() < MOST_COMMANDS && bytes < MOST_BYTES {
            let Some(job) = state.waiting.pop_front() else { break };
            if !job.answer.is_closed() {
                bytes += job.len();
                batch.push(job);
            }
        }
        state.gathering = None;
        let more = state.start();
        (batch, more)
    }

    /// After a sender has sent: whether it is to gather again. If not, its place is free.
    pub(crate) fn next(&self) -> bool {
        let mut state = self.0.lock();
        state.senders -= 1;
        state.start()
    }

    /// Gives up the place of a sender that was stopped from outside. What waits and would never be fetched is given back:
    /// dropping it tells its callers, who may send it again.
    pub(crate) fn abandon(&self, gathering: bool) -> VecDeque<Job> {
        let mut state = self.0.lock();
        state.senders -= 1;
        if gathering {
            state.gathering = None;
        }
        if state.senders == 0 { std::mem::take(&mut state.waiting) } else { VecDeque::new() }
    }
}
