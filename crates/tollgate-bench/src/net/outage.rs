//! A Redis that is killed and started again, seen by callers of a store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;
use tollgate_redis::RedisStore;
use tollgate_testbed::RedisServer;

use crate::{
    measure::ROUNDS,
    net::{
        Failure, Goal, Row,
        rig::{self, Rig},
    },
};

const CALLERS: usize = 64;

/// How long the server is down.
const DOWN: Duration = Duration::from_millis(500);

/// How long a caller waits before it tries again.
const PAUSE: Duration = Duration::from_millis(1);

pub(crate) fn rows(rig: &Rig, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    let (mut to_error, mut to_recover) = ([0.0; ROUNDS], [0.0; ROUNDS]);
    let mut deadline = Duration::ZERO;
    for round in 0..ROUNDS {
        let mut redis = RedisServer::start();
        let store = RedisStore::connect(&redis.url())?;
        deadline = store.deadline();
        (to_error[round], to_recover[round]) = one_outage(rig, &mut redis, &store)?;
    }
    let must = deadline.as_secs_f64() * 1_000.0;
    let name = "Redis store, server killed: the slowest error";
    show(&Row::alone((name, "ms"), Goal::AtMost { must, aim: 10.0 }, to_error));
    let name = "Redis store, server back: until every caller is answered";
    show(&Row::alone((name, "ms"), Goal::AtMost { must: 500.0, aim: 200.0 }, to_recover));
    Ok(())
}

/// The slowest failing call of an outage, and how long after the server's return the last caller was answered again, both in
/// milliseconds.
#[expect(clippy::disallowed_methods, reason = "measuring is what this crate is for")]
fn one_outage(rig: &Rig, redis: &mut RedisServer, store: &RedisStore) -> Result<(f64, f64), Failure> {
    let back = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (store, back) = (store.clone(), Arc::clone(&back));
        callers.spawn_on(
            async move {
                let mut slowest = Duration::ZERO;
                loop {
                    let was_back = back.load(Ordering::SeqCst);
                    let sent_at = Instant::now();
                    match rig::take(&store, caller, rig::now()).await {
                        Ok(()) if was_back => return (slowest, Instant::now()),
                        Ok(()) => {}
                        Err(_down) => slowest = slowest.max(sent_at.elapsed()),
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            },
            rig.callers.handle(),
        );
    }
    std::thread::sleep(DOWN);
    redis.kill();
    std::thread::sleep(DOWN);
    redis.restart();
    let back_at = Instant::now();
    back.store(true, Ordering::SeqCst);
    rig.callers.block_on(async {
        let (mut slowest, mut recovered) = (Duration::ZERO, Duration::ZERO);
        while let Some(caller) = callers.join_next().await {
            let (slowest_error, answered_at) = caller?;
            slowest = slowest.max(slowest_error);
            recovered = recovered.max(answered_at - back_at);
        }
        if slowest.is_zero() {
            return Err("nobody noticed the outage".into());
        }
        Ok((slowest.as_secs_f64() * 1_000.0, recovered.as_secs_f64() * 1_000.0))
    })
}
