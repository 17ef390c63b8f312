//! What keys are like, and what happens to those of others: after every call of a long history, after every case of the suite,
//! and on purpose.

use tollgate_suite::{Door, Setting, cases, differential};
use tollgate_testbed::Watched;

use crate::served::{served, served_with};

mod sending_once {
    use crate::served::served;

    tollgate_testbed::owes! { served() }
}

mod sending_again {
    use crate::served::served_with;

    tollgate_testbed::owes! { served_with(|builder| builder.resends(2)) }
}

#[tokio::test]
async fn every_key_has_a_lifetime_after_each_call() {
    let watched = Watched::new(served_with(|builder| builder.resends(1)));
    differential(&watched, &Setting::default(), 11, 500).await.expect("the store answers as the core does");
}

#[tokio::test]
async fn every_key_has_a_lifetime_after_each_case() {
    let watched = Watched::new(served());
    for (case, run) in cases().iter().zip(0..) {
        // The cases that try thousands of points are not about lifetimes, nor are those that race.
        if !matches!(case.group(), "exact" | "concurrency") {
            let setting = Setting { run, ..Setting::default() };
            case.run(&watched, &setting, Door::Take).await.expect("the store does what it owes");
        }
    }
}
