//! Concurrent calls that share a request.
//!
//! A request costs both sides some ten times what a command in it costs. So a call puts its command into a queue and, if nobody
//! is about to fetch what waits there, starts a sender: a task that lets everybody who is ready to run go first, once, and then
//! takes all that waits along in one request. A call that is alone loses no time by that.
//!
//! Each caller waits for its own answer and no longer than its own deadline. Who gives up takes nothing away from the others,
//! and what he has not yet sent is not sent.

use std::sync::{Arc, atomic::AtomicBool};

use tokio::{sync::oneshot, time::Instant};

use crate::{
    client::Client,
    command::Form,
    failure::Failure,
    parcel::Parcel,
    queue::{Gathered, Job, Place, Sent, Work},
    reply::Answer,
    timer::within,
    window::Pace,
};

/// Has a command sent along with those of others.
pub(crate) async fn call(
    client: &Arc<Client>,
    work: Work,
    form: Form,
    until: Instant,
    is_sent: Arc<AtomicBool>,
) -> Result<Answer, Failure> {
    let (answer, answered) = oneshot::channel();
    if let Some(place) = client.queue().push(Job { work, form, until, is_sent, answer }) {
        Sender::start(client, place);
    }
    answered.await.unwrap_or(Err(Failure::Abandoned))
}

/// A sender and its place among those of a client. Dropped before its work is done, as with the runtime it runs on, it gives the
/// place back.
struct Sender {
    client: Arc<Client>,
    gathering: bool,
    place: Option<Place>,
}

impl Sender {
    /// Starts a sender in a place that the queue has made.
    fn start(client: &Arc<Client>, place: Place) {
        let sender = Self { client: Arc::clone(client), gathering: true, place: Some(place) };
        tokio::spawn(sender.run());
    }

    async fn run(mut self) {
        while let Some(place) = self.place {
            // Whoever is ready to run comes first: this is what makes batches large without making anybody wait.
            tokio::task::yield_now().await;
            let Gathered { batch, too_late, more } = self.client.queue().gather(place);
            self.gathering = false;
            if let Some(more) = more {
                Self::start(&self.client, more);
            }
            fail(too_late, &Failure::Unsent);
            let sent = if batch.is_empty() { None } else { Some(send(&self.client, batch).await) };
            self.place = self.client.queue().next(place, sent);
            self.gathering = self.place.is_some();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let orphans: Vec<Job> = self.client.queue().abandon(place, self.gathering);
            drop(orphans);
        }
    }
}

/// Sends a batch and hands out the answers. The request is given up when the last of its callers has.
async fn send(client: &Client, batch: Vec<Job>) -> Sent {
    let (at, commands) = (Instant::now(), batch.len());
    let until = batch.iter().map(|job| job.until).max().unwrap_or(at);
    let parcel = Parcel::pack(batch, client.shares_commands(at));
    let body = parcel.body();
    let answers = async {
        if parcel.len() == 1 {
            client.send_one(body).await.map(|answer| vec![answer])
        } else {
            client.send_many(body, parcel.len()).await
        }
    };
    let answers = within(until, answers).await;
    let pace = match &answers {
        Some(Ok(_)) => Some(pace(&parcel, commands, at)),
        Some(Err(_)) => None,
        None => Some(Pace::Late),
    };
    match answers.unwrap_or(Err(Failure::Elapsed)) {
        Ok(answers) => {
            if parcel.hand_out(answers) {
                client.send_apart_from(Instant::now());
            }
        }
        Err(failure) => parcel.fail(&failure),
    }
    Sent { at, commands, pace }
}

/// How the answer to what was sent `at` comes now, for most of those who waited for it.
fn pace(parcel: &Parcel, callers: usize, at: Instant) -> Pace {
    let now = Instant::now();
    let most = |late: fn(&Job, Instant, Instant) -> bool| {
        parcel.jobs().filter(|job| late(job, at, now)).count() * 2 > callers
    };
    if most(|job, _, now| job.until < now) {
        Pace::Late
    } else if most(|job, at, now| job.until.saturating_duration_since(at) < (now - at) * 2) {
        Pace::Slow
    } else {
        Pace::Brisk
    }
}

fn fail(batch: Vec<Job>, failure: &Failure) {
    batch.into_iter().for_each(|job| job.tell(Err(failure.clone())));
}
