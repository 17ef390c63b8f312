//! A long random history, other than all before, through each way of sending. `cargo xtask histories` has longer ones.

use tollgate_suite::{Setting, differential};

use crate::served::served_with;

const STEPS: u32 = 2_000;

#[tokio::test]
async fn a_long_history_is_answered_as_the_core_does() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    for resends in [0, 2] {
        let served = served_with(|builder| builder.resends(resends));
        let answered = differential(&served, &Setting::default(), seed, STEPS).await;
        answered.expect("the store answers as the core does");
    }
}
