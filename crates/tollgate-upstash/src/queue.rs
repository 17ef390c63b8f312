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
/// [`MOST_REQUESTS`] senders have a place.
#[derive(Default)]
pub(crate) struct Queue(Mutex<State>);

/// Which sender has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u64);

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// Until when the sender that is gathering is waited for.
    gathering: Option<Instant>,
    /// Who has a place, and until when it can need it. A runtime that nobody drives keeps a sender where it is, perhaps for ever:
    /// it must not keep the place too.
    senders: Vec<(Place, Instant)>,
    started: u64,
}

impl State {
    /// Makes a place for one more sender if there is work for it.
    fn start(&mut self) -> Option<Place> {
        if self.waiting.is_empty() {
            return None;
        }
        let now = Instant::now();
        if self.senders.len() >= MOST_REQUESTS {
            self.senders.retain(|&(_, until)| now <= until + PATIENCE);
        }
        if self.senders.len() >= MOST_REQUESTS || self.gathering.is_some_and(|until| now <= until) {
            return None;
        }
        self.started += 1;
        let place = Place(self.started);
        self.gathering = Some(now + PATIENCE);
        self.senders.push((place, now + PATIENCE));
        Some(place)
    }

    fn free(&mut self, place: Place) {
        self.senders.retain(|&(other, _)| other != place);
    }
}

impl Queue {
    /// Adds a command. If a sender has to be started for it, here is its place.
    pub(crate) fn push(&self, job: Job) -> Option<Place> {
        let mut state = self.0.lock();
        state.waiting.push_back(job);
        state.start()
    }

    /// Ends the gathering of a sender: what it is to send, and the place of another one if the rest needs it. Commands whose
    /// callers no longer wait are left out, and so never sent.
    pub(crate) fn gather(&self, place: Place) -> (Vec<Job>, Option<Place>) {
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
        let last = batch.iter().map(|job| job.until).max();
        if let (Some(last), Some(sender)) =
            (last, state.senders.iter_mut().find(|(other, _)| *other == place))
        {
            sender.1 = last;
        }
        state.gathering = None;
        let more = state.start();
        (batch, more)
    }

    /// After a sender has sent: its next place if it is to gather again. The one it had is free.
    pub(crate) fn next(&self, place: Place) -> Option<Place> {
        let mut state = self.0.lock();
        state.free(place);
        state.start()
    }

    /// Gives up the place of a sender that was stopped from outside. What waits and would never be fetched is given back:
    /// dropping it tells its callers, who may send it again.
    pub(crate) fn abandon(&self, place: Place, gathering: bool) -> VecDeque<Job> {
        let mut state = self.0.lock();
        state.free(place);
        if gathering {
            state.gathering = None;
        }
        if state.senders.is_empty() { std::mem::take(&mut state.waiting) } else { VecDeque::new() }
    }
}
