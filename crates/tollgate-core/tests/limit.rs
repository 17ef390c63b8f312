//! Limits as values: how they are made, what they say of themselves, and why one cannot be made.

use std::error::Error;

use tollgate_core::{Charging, Limit, LimitError, Timestamp, Units, Window};

use crate::support::{at, units, width};

#[test]
fn constructors_agree_with_what_they_make() {
    let (quota, window) = (units(7), Window::HOUR);
    assert_eq!(Limit::fixed(7, window), Limit::FixedWindow { quota, window });
    assert_eq!(Limit::sliding(7, window), Limit::SlidingWindow { quota, window });
    assert_eq!(
        Limit::bucket(7, 2, window),
        Limit::TokenBucket { capacity: quota, refill: units(2), interval: window }
    );
    assert_eq!(Limit::try_fixed(7, window), Ok(Limit::fixed(7, window)));
    assert_eq!(Limit::try_sliding(7, window), Ok(Limit::sliding(7, window)));
    assert_eq!(Limit::try_bucket(7, 2, window), Ok(Limit::bucket(7, 2, window)));
}

#[test]
fn numbers_out_of_range_are_refused_with_the_reason() {
    let large = 1 << 53;
    for refused in [
        Limit::try_fixed(large, Window::DAY),
        Limit::try_sliding(large, Window::DAY),
        Limit::try_bucket(large, 1, Window::DAY),
        Limit::try_bucket(1, large, Window::DAY),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error, LimitError::from(Units::try_new(large).unwrap_err()));
        assert!(error.to_string().contains("out of range"), "{error}");
        let reason = error.source().unwrap().to_string();
        assert!(reason.contains("9007199254740992") && reason.contains("9007199254740991"), "{reason}");
    }
    let error = Limit::try_bucket(1, 0, Window::DAY).unwrap_err();
    assert_eq!(error, LimitError::NeverRefilled);
    assert!(error.to_string().contains("at least 1"), "{error}");
    assert!(error.source().is_none());

    let error = "3 per 1 minute".parse::<Limit>().unwrap_err();
    assert!(error.to_string().contains("window of a limit"), "{error}");
    assert!(error.source().unwrap().to_string().contains("\"1 minute\""));
    let error = "bucket 3 refill 0 per 1 s".parse::<Limit>().unwrap_err();
    assert!(error.to_string().contains("numbers of a limit"), "{error}");
    assert!(error.source().unwrap().to_string().contains("at least 1"));
    assert!("3".parse::<Limit>().unwrap_err().source().is_none());
}

#[test]
#[should_panic(expected = "at least 1 unit")]
fn a_constant_bucket_is_refilled() {
    let _ = Limit::bucket(1, std::hint::black_box(0), Window::DAY);
}

#[test]
#[should_panic(expected = "2^53 - 1")]
fn a_constant_amount_has_a_bound() {
    let _ = Units::new(std::hint::black_box(1 << 53));
}

#[test]
fn a_constant_window_has_bounds() {
    for ms in [0, (1 << 40) + 1, u64::MAX] {
        assert!(std::panic::catch_unwind(|| Window::from_ms(ms)).is_err(), "{ms}");
        assert!(std::panic::catch_unwind(|| Window::from_secs(ms)).is_err(), "{ms}");
    }
    assert_eq!(Window::from_ms(1 << 40), Window::MAX);
    assert_eq!(Window::from_secs(1), Window::SECOND);
}

#[test]
fn a_limit_says_what_it_is() {
    let others = [units(0), units(9)];
    for limit in
        [Limit::fixed(7, Window::DAY), Limit::sliding(7, Window::DAY), Limit::bucket(7, 2, Window::DAY)]
    {
        assert_eq!(limit.quota(), units(7));
        for other in others {
            let changed = limit.with_quota(other);
            assert_eq!(changed.quota(), other);
            assert_eq!(changed.with_quota(units(7)), limit);
        }
        for (cost, can) in [(0, true), (7, true), (8, false)] {
            assert_eq!(limit.can_ever_fit(units(cost)), can, "{limit} {cost}");
            assert!(!limit.with_quota(Units::ZERO).can_ever_fit(units(cost)), "{limit} {cost}");
        }
    }
}

#[test]
fn a_period_is_a_window_or_the_time_a_bucket_takes_to_fill() {
    for (limit, period_ms) in [
        (Limit::fixed(7, width(10)), 10),
        (Limit::sliding(7, width(10)), 10),
        (Limit::bucket(7, 2, width(10)), 40),
        (Limit::bucket(8, 2, width(10)), 40),
        (Limit::bucket(1, 2, width(10)), 10),
        (Limit::bucket(0, 2, width(10)), 10),
        (Limit::bucket(Units::MAX.get(), 1, Window::MAX), 1 << 40),
        (Limit::bucket(2, 1, Window::MAX), 1 << 40),
    ] {
        assert_eq!(limit.period(), width(period_ms), "{limit}");
        // An empty bucket is full after it, unless that is longer than any window.
        if let (Limit::TokenBucket { capacity, .. }, true) = (limit, period_ms < 1 << 40) {
            let state = limit.step(None, capacity, Timestamp::EPOCH, Charging::Always, true).state;
            assert!(state.is_none_or(|state| limit.idle_at(&state) == at(period_ms)), "{limit}");
        }
    }
}

#[test]
fn values_convert_and_print() {
    assert_eq!((units(42).to_string(), at(42).to_string()), ("42".into(), "42 ms".into()));
    assert_eq!((Units::from(42u32), Units::try_from(42u64)), (units(42), Ok(units(42))));
    assert_eq!(u64::from(units(42)), 42);
    assert_eq!(format!("{:>5}", units(42)), "   42");
    assert_eq!(
        (Charging::default(), Units::default(), Timestamp::default()),
        (Charging::IfAllowed, Units::ZERO, Timestamp::EPOCH)
    );
    let decision =
        Limit::fixed(7, width(10)).step(None, units(3), at(25), Charging::IfAllowed, true).decision;
    assert_eq!(
        (decision.quota(), decision.used(), decision.left(), decision.remaining()),
        (units(7), units(3), 4, 4)
    );
    assert_eq!(decision.stamp().window_end(), at(30));
}
