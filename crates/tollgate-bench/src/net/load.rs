//! Callers who call again as soon as they are answered.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::net::{Failure, rig::Rig};

/// What callers saw.
pub(crate) struct Seen {
    /// Calls a second, of all together.
    pub(crate) per_second: f64,
    /// The middle one of all times from a call to its answer, in milliseconds.
    pub(crate) p50_ms: f64,
}

/// How long callers call before it counts, and for how long it counts.
const WARM_UP: Duration = Duration::from_millis(200);
const MEASURED: Duration = Duration::from_millis(800);

/// Lets so many callers call; `call` is given the number of the caller.
#[expect(clippy::disallowed_methods, reason = "measuring is what this crate is for")]
#[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
pub(crate) fn load<F, Fut>(rig: &Rig, callers: usize, call: F) -> Result<Seen, Failure>
where
    F: Fn(usize) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send,
{
    let begin = Instant::now() + WARM_UP;
    let end = begin + MEASURED;
    rig.callers.block_on(async {
        let mut tasks = JoinSet::new();
        for caller in 0..callers {
            let call = call.clone();
            tasks.spawn(async move {
                let mut times = Vec::new();
                loop {
                    let sent_at = Instant::now();
                    call(caller).await?;
                    let answered_at = Instant::now();
                    if answered_at >= end {
                        return Ok::<_, Failure>(times);
                    }
                    if answered_at >= begin {
                        times.push(answered_at - sent_at);
                    }
                }
            });
        }
        let mut times = Vec::new();
        while let Some(of_one) = tasks.join_next().await {
            times.extend(of_one??);
        }
        times.sort_unstable();
        let p50 = times.get(times.len() / 2).ok_or("not one call was answered in time")?;
        let p50_ms = p50.as_secs_f64() * 1_000.0;
        Ok(Seen { per_second: times.len() as f64 / MEASURED.as_secs_f64(), p50_ms })
    })
}
