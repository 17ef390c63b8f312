//! Policies that warn before they refuse.

use std::sync::Arc;

use crate::common::{Moody, NOON};
use tollgate_guard::{
    AnyPolicy, Charging, Guard, Limit, ManualClock, OnOutage, Outcome, OwnedPolicy, Policy, PolicyError,
    Window,
};

const THREE: Policy<0> = Policy::new("three", Limit::fixed(3, Window::DAY), OnOutage::Deny).warn_at(67);
const WIDE: Policy<0> = Policy::new("wide", Limit::fixed(10, Window::DAY), OnOutage::Deny).warn_at(100);
const QUIET: Policy<0> = Policy::new("quiet", Limit::fixed(10, Window::DAY), OnOutage::Deny);
const BUCKET: Policy<0> = Policy::new("bucket", Limit::bucket(10, 1, Window::DAY), OnOutage::Deny).warn_at(1);
const CLOSED: Policy<0> = Policy::new("closed", Limit::fixed(0, Window::DAY), OnOutage::Deny).warn_at(1);

fn guard(policies: impl IntoIterator<Item = AnyPolicy>) -> Arc<Guard<Arc<Moody>>> {
    let clock = ManualClock::at_unix_ms(NOON);
    Arc::new(Guard::builder(Moody::new()).policies(policies).clock(clock).build().unwrap())
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    outcome.warnings().map(|one| one.policy().to_string()).collect()
}

#[tokio::test]
async fn a_policy_warns_from_its_share_on_until_it_refuses() {
    let guard = guard([THREE.into(), WIDE.into(), QUIET.into(), CLOSED.into(), BUCKET.into()]);
    let charges = [QUIET.charge(()), THREE.charge(()), WIDE.charge(())];
    // Two thirds are less than 67 per cent.
    for expected in [&[][..], &[], &["three"]] {
        assert_eq!(warnings(&guard.check(&charges).await), expected);
    }
    let refused = guard.check(&charges).await;
    assert!(!refused.is_allowed());
    assert!(warnings(&refused).is_empty(), "a refusal speaks for itself");
    assert_eq!(warnings(&guard.check(&[WIDE.charge(()).cost(6)]).await), [""; 0]);
    assert_eq!(warnings(&guard.check(&[WIDE.charge(())]).await), ["wide"], "all of it is spent");
    let _ = guard.check(&[QUIET.charge(()).cost(9).charging(Charging::Always)]).await;
    assert!(warnings(&guard.peek(&[QUIET.charge(()).cost(0), CLOSED.charge(()).cost(0)]).await).is_empty());
    assert_eq!(warnings(&guard.check(&[BUCKET.charge(())]).await), ["bucket"]);
}

#[tokio::test]
async fn a_reservation_carries_the_warning_of_its_estimate() {
    let guard = guard([WIDE.into()]);
    let outcome = guard.reserve(&[WIDE.charge(()).estimate(10)]).await;
    assert_eq!(outcome.warnings().count(), 1);
    let Outcome::Allow(reservation) = outcome else { panic!("there is room") };
    reservation.settle(4).await.unwrap();
    let outcome = guard.reserve(&[WIDE.charge(()).estimate(5)]).await;
    assert_eq!(outcome.warnings().count(), 0);
}

#[tokio::test]
async fn a_policy_from_a_file_warns_as_constants_do() {
    let policy = || OwnedPolicy::try_new("three", 0, Limit::fixed(3, Window::DAY), OnOutage::Deny).unwrap();
    for percent in [0, 101, 256 + 50, u32::MAX] {
        let error = policy().warn_at(percent).unwrap_err();
        assert_eq!(error, PolicyError::WarnAt { percent });
        assert!(error.to_string().contains("use 1 to 100"), "{error}");
    }
    assert_eq!(policy().warn_at(67).unwrap(), OwnedPolicy::from(THREE));
    let policy = policy().warn_at(1).unwrap();
    let guard = guard([AnyPolicy::from(&policy)]);
    assert_eq!(warnings(&guard.peek(&[policy.charge(&[]).unwrap()]).await), [""; 0]);
    assert_eq!(warnings(&guard.check(&[policy.charge(&[]).unwrap()]).await), ["three"]);
}
