//! Long random histories, through each way of sending.

use tollgate_suite::{Setting, differential};

use crate::served::Served;

/// How many steps each history has, unless `TOLLGATE_STEPS` says otherwise: `TOLLGATE_STEPS=100000` takes minutes.
const STEPS: u32 = 2_000;

fn steps() -> u32 {
    std::env::var("TOLLGATE_STEPS").map_or(STEPS, |steps| {
        steps.parse().unwrap_or_else(|_| panic!("TOLLGATE_STEPS is {steps:?}, not a number of steps"))
    })
}

/// A seed that no earlier run had, unless `TOLLGATE_SEED` names one.
fn seed() -> u64 {
    std::env::var("TOLLGATE_SEED").map_or_else(
        |_| u64::from(std::process::id()),
        |seed| seed.parse().unwrap_or_else(|_| panic!("TOLLGATE_SEED is {seed:?}, not a number")),
    )
}

#[tokio::test]
async fn a_long_history_is_answered_as_the_core_does() {
    let served = Served::start();
    let (seed, steps) = (seed(), steps());
    println!("TOLLGATE_SEED={seed} TOLLGATE_STEPS={steps}");
    differential(&served, &Setting::default(), seed, steps)
        .await
        .expect("the store answers as the core does");
}

#[tokio::test]
async fn a_long_history_is_answered_so_by_a_store_that_sends_again() {
    let served = Served::with(|builder| builder.resends(2));
    let (seed, steps) = (seed().wrapping_add(1), steps());
    println!("TOLLGATE_SEED={} TOLLGATE_STEPS={steps}", seed.wrapping_sub(1));
    differential(&served, &Setting::default(), seed, steps)
        .await
        .expect("the store answers as the core does");
}
