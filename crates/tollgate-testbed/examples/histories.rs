//! Lets long random histories happen to each store and to the core, and counts the steps that were answered the same, field by
//! field: `histories [--steps N] [--seed N]`.
//!
//! `cargo xtask histories` runs it.
#![expect(clippy::print_stdout, reason = "what it prints is its answer")]

use std::{
    error::Error,
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use tollgate_memory::MemoryStore;
use tollgate_redis::RedisStore;
use tollgate_store::Store;
use tollgate_suite::{Setting, differential};
use tollgate_testbed::{Served, TOKEN};
use tollgate_upstash::{Credentials, UpstashStore};

/// How long a call may take here: this is not about time.
const DEADLINE: Duration = Duration::from_secs(30);

/// What runs, and what it is called.
type Row = (&'static str, Box<dyn Store>);

fn main() -> Result<(), Box<dyn Error>> {
    let (seed, steps) = arguments()?;
    println!("seed {seed}, {steps} steps a store");
    let differ = thread::scope(|scope| {
        let running: Vec<_> =
            stores().into_iter().map(|row| scope.spawn(move || is_equal(row, seed, steps))).collect();
        running.into_iter().map(ScopedJoinHandle::join).filter(|ended| !matches!(ended, Ok(true))).count()
    });
    if differ > 0 {
        let again = format!("--steps {steps} --seed {seed}");
        return Err(format!("{differ} of the stores differ from the core; the same again: {again}").into());
    }
    Ok(())
}

/// Lets a history happen to a store, and says what came of it.
fn is_equal((name, store): Row, seed: u64, steps: u32) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a process may have a few threads");
    let ended = runtime.block_on(differential(&*store, &Setting::default(), seed, steps));
    match &ended {
        Ok(()) => println!("{name:<24} {steps:>9} of {steps} steps equal, field by field"),
        Err(failure) => println!("{name:<24} {failure}"),
    }
    ended.is_ok()
}

/// The seed, one that no earlier run had unless it is named, and the number of steps.
fn arguments() -> Result<(u64, u32), Box<dyn Error>> {
    let (mut seed, mut steps) = (u64::from(std::process::id()), 100_000);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Long("seed") => seed = lexopt::ValueExt::parse(&arguments.value()?)?,
            lexopt::Arg::Long("steps") => steps = lexopt::ValueExt::parse(&arguments.value()?)?,
            other => return Err(other.unexpected().into()),
        }
    }
    Ok((seed, steps))
}

/// Each on servers of its own.
fn stores() -> Vec<Row> {
    let mut stores: Vec<Row> = vec![("memory", Box::new(MemoryStore::new()))];
    for (name, resends) in [("redis", 0), ("redis, sending again", 2)] {
        stores.push((
            name,
            Box::new(Served::start(|redis| {
                let builder = RedisStore::builder(&redis.url()).deadline(DEADLINE).resends(resends);
                builder.build().expect("this is a URL")
            })),
        ));
    }
    for (name, batching) in [("upstash, in batches", true), ("upstash, one by one", false)] {
        stores.push((
            name,
            Box::new(Served::start_behind_a_gateway(|gateway| {
                let credentials = Credentials::new(&gateway.url(), TOKEN).expect("this is a URL and a token");
                let builder = UpstashStore::builder(credentials).deadline(DEADLINE).batching(batching);
                builder.build().expect("nothing is asked for that could fail")
            })),
        ));
    }
    stores
}
