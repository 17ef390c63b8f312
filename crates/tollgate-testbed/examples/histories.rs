//! Lets long random histories happen to each store and to the core, of counts and of claims, and counts the steps that were answered
//! the same, field by field: `histories [--steps N] [--seed N]`.
//!
//! `cargo xtask histories` runs it.
#![expect(clippy::print_stdout, reason = "what it prints is its answer")]

use std::{
    error::Error,
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use futures_util::future::try_join_all;
use tollgate_memory::MemoryStore;
use tollgate_redis::RedisStore;
use tollgate_store::{Claims, Store};
use tollgate_suite::{Failure, Setting, claims_differential, differential};
use tollgate_testbed::{Served, TOKEN};
use tollgate_upstash::{Credentials, UpstashStore};

/// How long a call may take here: this is not about time.
const DEADLINE: Duration = Duration::from_secs(30);

/// How many histories one store has side by side if it is on a server: its calls then share connections, requests and commands.
const SIDE_BY_SIDE: u32 = 32;

/// A store, what it is called, and how many histories happen to it at once.
type Row = (&'static str, Box<dyn Both>, u32);

/// A store that keeps claims too.
trait Both: Store + Claims {
    fn counts(&self) -> &dyn Store;
    fn claims(&self) -> &dyn Claims;
}

impl<S: Store + Claims> Both for S {
    fn counts(&self) -> &dyn Store {
        self
    }

    fn claims(&self) -> &dyn Claims {
        self
    }
}

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

/// Lets histories of so many steps together happen to a store, and says what came of them.
fn is_equal((name, store, at_once): Row, seed: u64, steps: u32) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a process may have a few threads");
    let setting = Setting::default();
    // One is a long one, of a quarter of the steps; the others share the rest. Each has a seed of its own.
    let (long, others) = if at_once == 1 { (steps, 1) } else { (steps / 4, at_once - 1) };
    let rest = steps - long;
    let each = || {
        (0..at_once).map(|at| {
            let share = || rest / others + u32::from(at <= rest % others);
            (seed.wrapping_add(u64::from(at)), if at == 0 { long } else { share() })
        })
    };
    let counts = each().map(|(seed, steps)| differential(store.counts(), &setting, seed, steps));
    let counts = runtime.block_on(try_join_all(counts));
    let claims = each().map(|(seed, steps)| claims_differential(store.claims(), &setting, seed, steps));
    let claims = runtime.block_on(try_join_all(claims));
    say(name, steps, &counts) & say(&format!("{name}, claims"), steps, &claims)
}

fn say(name: &str, steps: u32, ended: &Result<Vec<()>, Failure>) -> bool {
    match ended {
        Ok(_) => println!("{name:<30} {steps:>9} of {steps} steps equal, field by field"),
        Err(failure) => println!("{name:<30} {failure}"),
    }
    ended.is_ok()
}

/// The seed, one that no earlier run had unless it is named, and the number of steps.
fn arguments() -> Result<(u64, u32), Box<dyn Error>> {
    let (mut seed, mut steps) = (fastrand::u64(..), 100_000);
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
    let mut stores: Vec<Row> = vec![("memory", Box::new(MemoryStore::new()), 1)];
    for (name, resends) in [("redis", 0), ("redis, sending again", 2)] {
        stores.push((
            name,
            Box::new(Served::start(|redis| {
                let builder = RedisStore::builder(&redis.url()).deadline(DEADLINE).resends(resends);
                builder.build().expect("this is a URL")
            })),
            SIDE_BY_SIDE,
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
            SIDE_BY_SIDE,
        ));
    }
    stores
}
