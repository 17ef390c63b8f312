//! A long random history, other than all before, through a gateway on a real Redis, with and without batches.
//! `cargo xtask histories` has longer ones.

use tollgate_suite::{Setting, differential};

use crate::support::served;

const STEPS: u32 = 1_000;

#[tokio::test]
async fn a_long_history_is_answered_as_the_core_does() {
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    for batching in [true, false] {
        let served = served(|builder| builder.batching(batching));
        differential(&served, &Setting::default(), seed, STEPS).await.unwrap();
    }
}
