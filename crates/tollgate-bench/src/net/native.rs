//! The Redis store: beside the crate that it is built on, and beside Redis' own benchmark.

use std::sync::Arc;

use redis::{Cmd, Value};
use tollgate_redis::RedisStore;
use tollgate_script::{Call, Dialect};

use crate::net::{
    Failure, Goal, Row,
    load::load,
    rig::{self, Rig},
    script,
};

const CALLERS: usize = 64;

pub(crate) fn rows(rig: &Rig, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    let store = RedisStore::connect(&rig.redis.url())?;
    let ours = || takes(rig, &store);
    let name = "Redis store ÷ the redis crate with the same script, 64 callers";
    let goal = Goal::AtLeast { must: 0.85, aim: 0.97 };
    let raw = rig.raw()?;
    let calls = (0..CALLERS).map(|caller| rig::take_script(caller, 1, None));
    let calls: Arc<[Call]> = calls.collect::<Result<_, _>>()?;
    let peer = || {
        let (raw, calls) = (raw.clone(), Arc::clone(&calls));
        let seen = load(rig, CALLERS, move |caller| {
            let (mut raw, command) = (raw.clone(), command(&calls[caller]));
            async move {
                match command.query_async(&mut raw).await? {
                    Value::BulkString(_) => Ok(()),
                    other => Err(format!("the script answers {other:?}").into()),
                }
            }
        })?;
        Ok(seen.per_second)
    };
    show(&Row::compare((name, "calls/s"), goal, ours, peer)?);

    let name = "Redis store ÷ redis-benchmark -c1 -P64 of the same EVALSHA";
    let goal = Goal::AtLeast { must: 0.75, aim: 1.0 };
    let call = rig::take_script(0, 1, None)?;
    show(&Row::compare((name, "calls/s"), goal, ours, || script::per_second(rig, &call))?);
    Ok(())
}

fn takes(rig: &Rig, store: &RedisStore) -> Result<f64, Failure> {
    let store = store.clone();
    let seen = load(rig, CALLERS, move |caller| {
        let store = store.clone();
        async move { rig::take(&store, caller, rig::now()).await }
    })?;
    Ok(seen.per_second)
}

/// What whoever has the crate and the script's words would write.
fn command(call: &Call) -> Cmd {
    let mut command = redis::cmd("EVALSHA");
    command.arg(call.script.sha1(Dialect::Redis)).arg(call.keys.len());
    for word in call.keys.iter().chain(call.args.iter()) {
        command.arg(word);
    }
    command
}
