//! A long random history, other than all before, through a gateway on a real Redis, with and without batches.
//! `cargo xtask histories` has longer ones.

use tollgate_suite::{Setting, differential};

use crate::support::served;

const STEPS: u32 = 1_000;

#[tokio::test]
async fn a_long_history_is_answered_as_the_core_does() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    for batching in [true, false] {
        let served = served(|builder| builder.batching(batching));
        differential(&served, &Setting::default(), seed, STEPS).await.unwrap();
    }
}
