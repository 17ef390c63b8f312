//! Long random histories, through a gateway on a real Redis, with and without batches.

use tollgate_suite::{Setting, differential};

use crate::support::Served;

/// How many steps each history has, unless `TOLLGATE_STEPS` says otherwise: `TOLLGATE_STEPS=100000` takes minutes.
const STEPS: u32 = 1_000;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, which is no number"))
    })
}

#[tokio::test]
async fn a_long_history_is_answered_as_the_core_does() {
    let steps = u32::try_from(number("TOLLGATE_STEPS", STEPS.into())).unwrap();
    let seed = number("TOLLGATE_SEED", std::process::id().into());
    println!("TOLLGATE_SEED={seed} TOLLGATE_STEPS={steps}");
    for batching in [true, false] {
        let served = Served::start(|builder| builder.batching(batching)).await;
        differential(&served, &Setting::default(), seed, steps).await.unwrap();
    }
}
