//! The commands that wait for a request to take them along.
//!
//! # When there are more than the service can answer
//!
//! A queue that is emptied in order then works for nobody: what is sent has waited until there is no time left for its answer, is
//! counted, and is given up. Three rules keep that from happening, and none of them is felt while answers come in time:
//!
//! - Only so many commands are in flight as are answered in time ([`Window`]). Without that they wait at the service, where
//!   nobody can take them back.
//! - The newest go first, since they have the most time left. Whoever has waited in vain has waited in the queue, and is counted
//!   nowhere.
//! - A command whose caller gives up sooner than the fastest of the last answers came ([`RoundTrips`]) is not sent. Its
//!   caller is told so at once. The fastest of several, so that one slow answer says nothing; and only while something is in
//!   flight, so that there always is an answer to come which can say otherwise.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::oneshot, time::Instant};

use crate::{
    command::{Command, Form},
    failure::Failure,
    reply::Answer,
    round_trips::RoundTrips,
    together::Taking,
    window::{Pace, Window},
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

/// How long a request may keep its place while others want one. Its callers may wait for a minute, on a connection that is dead
/// perhaps; those who have less time do not wait for them. So up to sixty times as many requests can be open while nothing at
/// all is answered.
const HOLD: Duration = Duration::from_secs(1);

/// What a caller wants done.
#[derive(Clone)]
pub(crate) enum Work {
    Command(Command),
    Take(Arc<Taking>),
}

/// Work of a caller who waits for the answer.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) form: Form,
    /// When its caller gives up.
    pub(crate) until: Instant,
    /// Set when it is about to be sent, and may be counted from then on.
    pub(crate) is_sent: Arc<AtomicBool>,
    pub(crate) answer: oneshot::Sender<Result<Answer, Failure>>,
}

impl Job {
    /// About how long it is in a request, if it is not the one that brings a text for others.
    fn len(&self) -> usize {
        match &self.work {
            Work::Command(command) if self.form == Form::Text => command.len() + command.script.text.len(),
            Work::Command(command) => command.len(),
            Work::Take(taking) => taking.len(),
        }
    }

    /// Who no longer waits does not mind.
    pub(crate) fn tell(self, answer: Result<Answer, Failure>) {
        let _ = self.answer.send(answer);
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

/// What a sender has fetched.
pub(crate) struct Gathered {
    /// What it is to send.
    pub(crate) batch: Vec<Job>,
    /// What is too late to be sent.
    pub(crate) too_late: Vec<Job>,
    /// The place of another sender, if the rest needs it.
    pub(crate) more: Option<Place>,
}

/// What came of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    /// How many commands it held.
    pub(crate) commands: usize,
    /// Nothing if it failed for another reason than time.
    pub(crate) pace: Option<Pace>,
}

#[derive(Default)]
struct State {
    /// The newest last.
    waiting: Vec<Job>,
    /// Until when the sender that is gathering is waited for.
    gathering: Option<Instant>,
    senders: Vec<Held>,
    started: u64,
    window: Window,
    round_trips: RoundTrips,
}

/// A place that is taken.
struct Held {
    place: Place,
    /// Until when it can be needed. A runtime that nobody drives keeps a sender where it is, perhaps for ever: it must not keep
    /// the place too.
    until: Instant,
    /// How many commands are in flight from there.
    commands: usize,
}

impl State {
    /// Makes a place for one more sender if there is work for it.
    fn start(&mut self) -> Option<Place> {
        if self.waiting.is_empty() {
            return None;
        }
        let now = Instant::now();
        if self.is_full() {
            self.senders.retain(|held| now <= held.until + PATIENCE);
        }
        if self.is_full() || self.gathering.is_some_and(|until| now <= until) {
            return None;
        }
        self.started += 1;
        let place = Place(self.started);
        self.gathering = Some(now + PATIENCE);
        self.senders.push(Held { place, until: now + PATIENCE, commands: 0 });
        Some(place)
    }

    fn is_full(&self) -> bool {
        self.senders.len() >= MOST_REQUESTS || self.room() == 0
    }

    fn in_flight(&self) -> usize {
        self.senders.iter().map(|held| held.commands).sum()
    }

    /// How many more commands may be in flight.
    fn room(&self) -> usize {
        self.window.commands().saturating_sub(self.in_flight())
    }

    fn free(&mut self, place: Place) {
        self.senders.retain(|held| held.place != place);
    }

    /// Takes out what need not or cannot be answered any more, and gives back the latter.
    fn sort_out(&mut self, now: Instant) -> Vec<Job> {
        let fastest = if self.in_flight() > 0 { self.round_trips.fastest() } else { Duration::ZERO };
        let mut too_late = Vec::new();
        let mut kept = Vec::with_capacity(self.waiting.len());
        for job in self.waiting.drain(..).filter(|job| !job.answer.is_closed()) {
            let list = if job.until < now + fastest { &mut too_late } else { &mut kept };
            list.push(job);
        }
        self.waiting = kept;
        too_late
    }

    /// How many of the newest fit into one request.
    fn fitting(&self) -> usize {
        let mut bytes = 0;
        let most = self.room().min(MOST_COMMANDS);
        let fits = |job: &&Job| {
            let fits = bytes < MOST_BYTES;
            bytes += job.len();
            fits
        };
        self.waiting.iter().rev().take(most).take_while(fits).count()
    }
}

impl Queue {
    /// Adds a command. If a sender has to be started for it, here is its place.
    pub(crate) fn push(&self, job: Job) -> Option<Place> {
        let mut state = self.0.lock();
        state.waiting.push(job);
        state.start()
    }

    /// Ends the gathering of a sender. Commands whose callers no longer wait are left out, and so never sent.
    pub(crate) fn gather(&self, place: Place) -> Gathered {
        let mut state = self.0.lock();
        let now = Instant::now();
        let too_late = state.sort_out(now);
        let rest = state.waiting.len() - state.fitting();
        let batch =
            if rest == 0 { std::mem::take(&mut state.waiting) } else { state.waiting.split_off(rest) };
        if let (Some(last), Some(held)) = (
            batch.iter().map(|job| job.until).max(),
            state.senders.iter_mut().find(|held| held.place == place),
        ) {
            held.until = last.min(now + HOLD);
            held.commands = batch.len();
        }
        for job in &batch {
            job.is_sent.store(true, Ordering::Release);
        }
        state.gathering = None;
        let more = state.start();
        Gathered { batch, too_late, more }
    }

    /// After a sender has sent: its next place if it is to gather again. The one it had is free.
    pub(crate) fn next(&self, place: Place, sent: Option<Sent>) -> Option<Place> {
        let mut state = self.0.lock();
        if let Some(Sent { at, commands, pace: Some(pace) }) = sent {
            let (now, in_flight) = (Instant::now(), state.in_flight());
            if pace != Pace::Late {
                state.round_trips.note(now - at);
            }
            state.window.note(pace, at, now, commands, in_flight);
        }
        state.free(place);
        state.start()
    }

    /// Gives up the place of a sender that was stopped from outside. What waits and would never be fetched is given back:
    /// dropping it tells its callers, who may send it again.
    pub(crate) fn abandon(&self, place: Place, gathering: bool) -> Vec<Job> {
        let mut state = self.0.lock();
        state.free(place);
        if gathering {
            state.gathering = None;
        }
        if state.senders.is_empty() { std::mem::take(&mut state.waiting) } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{sync::oneshot::Receiver, time::advance};

    use super::*;
    use crate::command::Script;

    const MINUTE: Duration = Duration::from_secs(60);

    /// A command of somebody who waits for so long, and who waits for its answer.
    fn job(patience: Duration) -> (Job, Receiver<Result<Answer, Failure>>) {
        let (answer, answered) = oneshot::channel();
        let nothing = || [].into_iter().collect();
        let work = Work::Command(Command::new(Script { sha: "", text: "" }, &nothing(), &nothing()));
        let until = Instant::now() + patience;
        (Job { work, form: Form::Digest, until, is_sent: Arc::default(), answer }, answered)
    }

    /// Sends one command by itself; never ended, it is in flight from then on.
    fn send(queue: &Queue, patience: Duration) -> (Place, Receiver<Result<Answer, Failure>>) {
        let (job, answered) = job(patience);
        let place = queue.push(job).unwrap();
        assert_eq!(queue.gather(place).batch.len(), 1);
        (place, answered)
    }

    /// A request of those who can wait for a minute, on a connection that is dead: those who cannot are not kept for as long.
    #[tokio::test(start_paused = true)]
    async fn a_place_is_held_for_a_second_while_others_want_it() {
        let queue = Queue::default();
        let dead: Vec<_> = (0..MOST_REQUESTS).map(|_| send(&queue, MINUTE)).collect();
        let (first, _waits) = job(MINUTE);
        assert_eq!(queue.push(first), None);
        advance(HOLD + 2 * PATIENCE).await;
        let (second, _waits) = job(Duration::from_millis(900));
        let place = queue.push(second).unwrap();
        assert_eq!(queue.gather(place).batch.len(), 2);
        assert!(dead.iter().all(|(_, answered)| !answered.is_terminated()));
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_less_time_than_the_fastest_answer_took_is_not_sent_while_another_is() {
        let queue = Queue::default();
        let took = Duration::from_millis(500);
        for _ in 0..8 {
            let (place, _answered) = send(&queue, MINUTE);
            let at = Instant::now();
            advance(took).await;
            queue.next(place, Some(Sent { at, commands: 1, pace: Some(Pace::Brisk) }));
        }
        // Nothing is in flight that could say otherwise.
        let (place, _waits) = send(&queue, took / 2);
        for (patience, sent) in [(took / 2, 0), (took * 2, 1)] {
            let (job, _waits) = job(patience);
            let other = queue.push(job).unwrap();
            let gathered = queue.gather(other);
            assert_eq!((gathered.batch.len(), gathered.too_late.len()), (sent, 1 - sent));
            queue.next(other, None);
        }
        // One that is fast says otherwise.
        queue.next(place, Some(Sent { at: Instant::now(), commands: 1, pace: Some(Pace::Brisk) }));
        let _in_flight = send(&queue, MINUTE);
        let _sent = send(&queue, took / 2);
    }
}
