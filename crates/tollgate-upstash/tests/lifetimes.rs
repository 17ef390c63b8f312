//! What keys are like, and what happens to those of others, through a gateway on a real Redis.

use tollgate_suite::{Door, Setting, cases, differential};
use tollgate_testbed::Watched;

use crate::support::served;

mod in_batches {
    use crate::support::served;

    tollgate_testbed::owes! { served(|builder| builder) }
}

mod one_by_one {
    use crate::support::served;

    tollgate_testbed::owes! { served(|builder| builder.batching(false)) }
}

#[tokio::test]
async fn every_key_has_a_lifetime_after_each_call() {
    let watched = Watched::new(served(|builder| builder));
    differential(&watched, &Setting::default(), 11, 500).await.unwrap();
}

#[tokio::test]
async fn every_key_has_a_lifetime_after_each_case() {
    let watched = Watched::new(served(|builder| builder));
    for (case, run) in cases().iter().zip(0..) {
        // The cases that try thousands of points are not about lifetimes, nor are those that race.
        if !matches!(case.group(), "exact" | "concurrency") {
            let setting = Setting { run, ..Setting::default() };
            case.run(&watched, &setting, Door::Take).await.unwrap();
        }
    }
}
