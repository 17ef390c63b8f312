//! The cases every rate limit is judged by, each as a named row.

use tollgate_core::{Charging, Limit, State, Timestamp, Units, Window};

use crate::support::{CHARGINGS, Held, at, width};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60_000;
const DAY: u64 = 86_400_000;

/// The three kinds with one quota and one window.
fn kinds(quota: u64, window: Window) -> [Limit; 3] {
    [Limit::fixed(quota, window), Limit::sliding(quota, window), Limit::bucket(quota, 1, window)]
}

#[test]
fn a_sliding_quota_of_one_admits_one() {
    let mut key = Held::nothing(Limit::sliding(1, width(10 * SECOND)));
    assert!(key.take(1, 0).is_allowed());
    assert!(!key.take(1, 0).is_allowed());
}

#[test]
fn the_last_hit_before_the_edge_still_weighs_after_it() {
    let mut key = Held::nothing(Limit::sliding(1, Window::MINUTE));
    assert!(key.take(1, 59_999).is_allowed());
    let refused = key.take(1, 60_001);
    assert_eq!((refused.is_allowed(), refused.remaining()), (false, 0));
    assert_eq!(refused.retry_at(), Some(at(2 * MINUTE)));
}

#[test]
fn what_remains_counts_the_share_of_the_previous_window() {
    let mut key = Held::nothing(Limit::sliding(100, width(10 * SECOND)));
    key.spend(50, 5 * SECOND);
    let decision = key.take(10, 11 * SECOND);
    assert_eq!((decision.remaining(), decision.used().get()), (45, 55));
}

#[test]
fn a_fixed_window_of_three_asked_five_times() {
    let mut key = Held::nothing(Limit::fixed(3, Window::MINUTE));
    let seen = [1, 2, 3, 4, 5].map(|now| {
        let decision = key.take(1, now);
        (decision.is_allowed(), decision.remaining())
    });
    assert_eq!(seen, [(true, 2), (true, 1), (true, 0), (false, 0), (false, 0)]);

    let mut key = Held::nothing(Limit::fixed(3, Window::MINUTE));
    let seen = [1, 2, 3, 4, 5].map(|now| {
        let decision = key.charge(1, now, Charging::Always);
        (decision.is_allowed(), decision.left(), decision.used().get())
    });
    assert_eq!(seen, [(true, 2, 1), (true, 1, 2), (true, 0, 3), (false, -1, 4), (false, -2, 5)]);
}

#[test]
fn a_day_is_the_utc_day() {
    let midnight = 20_423 * DAY;
    let mut key = Held::nothing(Limit::fixed(2, Window::DAY));
    for now in [midnight - 1, midnight] {
        let admitted = [1, 1, 1].map(|cost| key.take(cost, now).is_allowed());
        assert_eq!(admitted, [true, true, false], "{now}");
    }
    assert_eq!(key.peek(1, midnight).reset_at(), at(midnight + DAY));
}

#[test]
fn a_cost_of_nothing_peeks() {
    for limit in kinds(3, Window::MINUTE) {
        for spent in [0, 1, 3, 5] {
            let mut key = Held::nothing(limit);
            if spent > 0 {
                key.spend(spent, 10);
            }
            let before = key.state;
            for charging in CHARGINGS {
                let decision = key.charge(0, 20, charging);
                assert_eq!(key.state, before, "{limit} {spent} {charging:?}");
                assert_eq!(decision.remaining(), 3u64.saturating_sub(spent), "{limit} {spent}");
                assert_eq!(decision.is_allowed(), spent <= 3, "{limit} {spent}");
            }
        }
    }
}

#[test]
fn a_cost_above_the_quota_never_fits() {
    for limit in kinds(3, Window::MINUTE) {
        let mut key = Held::nothing(limit);
        key.spend(1, 10);
        for cost in [4, 1_000, Units::MAX.get()] {
            let decision = key.take(cost, 20);
            assert!(!decision.is_allowed(), "{limit} {cost}");
            assert_eq!((decision.retry_at(), decision.remaining()), (None, 2), "{limit} {cost}");
            assert_eq!(decision.retry_after(at(20)), None, "{limit} {cost}");
        }
        assert!(key.take(2, 20).is_allowed(), "{limit}");
    }
}

#[test]
fn a_bucket_left_alone_is_full_and_not_more() {
    for idle in [DAY / 2, 400 * DAY, (1 << 53) - 1, u64::MAX] {
        let mut key = Held::nothing(Limit::bucket(5, 2, width(SECOND)));
        key.spend(7, 0);
        assert_eq!(key.peek(0, idle).left(), 5, "{idle}");
        assert_eq!([5, 1].map(|cost| key.take(cost, idle).is_allowed()), [true, false], "{idle}");
        // The deepest debt takes longer than there is time.
        key.spend(Units::MAX.get(), idle);
        assert!(!key.take(1, u64::MAX).is_allowed(), "{idle}");
    }
}

#[test]
fn long_windows_do_not_overflow() {
    let now = 1_700_000_000_000;
    for days in [25, 30, 400] {
        let window = width(days * DAY);
        let start = now / window.ms() * window.ms();
        for (limit, reset_at, retry_at) in [
            (Limit::fixed(1, window), start + window.ms(), start + window.ms()),
            (Limit::sliding(1, window), start + window.ms(), start + 2 * window.ms()),
            (Limit::bucket(1, 1, window), now + window.ms(), now + window.ms()),
        ] {
            let mut key = Held::nothing(limit);
            assert!(key.take(1, now).is_allowed(), "{limit}");
            let refused = key.take(1, now + 1);
            assert_eq!(refused.reset_at(), at(reset_at), "{limit}");
            assert_eq!(refused.retry_at(), Some(at(retry_at)), "{limit}");
            assert_eq!(refused.retry_after(at(now)).unwrap().as_millis(), u128::from(retry_at - now));
            assert_eq!(limit.idle_at(&key.state.unwrap()), at(retry_at), "{limit}");
        }
    }
}

#[test]
fn a_clock_that_steps_back_opens_no_window_twice() {
    for limit in kinds(3, Window::MINUTE) {
        let mut key = Held::nothing(limit);
        let now = 10 * MINUTE + 2 * SECOND;
        key.spend(3, now);
        let spent = key.state;
        // Five seconds back lies in the window before.
        let refused = key.take(1, now - 5 * SECOND);
        assert!(!refused.is_allowed(), "{limit}");
        assert_eq!((key.state, refused.reset_at()), (spent, key.peek(1, now).reset_at()), "{limit}");
        assert!(!key.take(1, now + 1).is_allowed(), "{limit}");
    }
    // What is admitted meanwhile counts in the newer window.
    let mut key = Held::nothing(Limit::fixed(3, Window::MINUTE));
    key.spend(1, MINUTE);
    assert_eq!(key.take(1, MINUTE - 5 * SECOND).remaining(), 1);
    assert_eq!(key.take(1, MINUTE + 1).remaining(), 0);
}

#[test]
fn a_raised_quota_admits_the_difference_at_once() {
    for (limit, raised) in kinds(10, Window::MINUTE).into_iter().zip(kinds(20, Window::MINUTE)) {
        let mut key = Held::nothing(limit);
        let admitted = (0..50).filter(|&now| key.take(1, now).is_allowed()).count();
        assert_eq!(admitted, 10, "{limit}");
        key.limit = raised;
        let admitted = (50..90).filter(|&now| key.take(1, now).is_allowed()).count();
        // A bucket holds what it holds: a larger one is not fuller.
        let expected = if matches!(limit, Limit::TokenBucket { .. }) { 0 } else { 10 };
        assert_eq!(admitted, expected, "{limit}");
    }
}

#[test]
fn a_quota_lowered_below_what_is_used_refuses_for_a_while() {
    for (limit, lowered) in kinds(20, Window::MINUTE).into_iter().zip(kinds(5, Window::MINUTE)) {
        let mut key = Held::nothing(limit);
        key.spend(18, 0);
        key.limit = lowered;
        let refused = key.take(3, 1);
        // Two are left in the bucket, which never knew what was used.
        let remaining = if matches!(limit, Limit::TokenBucket { .. }) { 2 } else { 0 };
        assert_eq!((refused.is_allowed(), refused.remaining()), (false, remaining), "{limit}");
        let retry_at = refused.retry_at().unwrap().unix_ms();
        assert!(!key.take(3, retry_at - 1).is_allowed(), "{limit}");
        assert!(key.take(3, retry_at).is_allowed(), "{limit}");
    }
    // A bucket made smaller holds no more than it can.
    let fuller = State::Bucket { refilled_at: Timestamp::EPOCH, tokens: 18 };
    let mut key = Held { limit: Limit::bucket(5, 1, Window::MINUTE), state: Some(fuller) };
    assert_eq!([5, 1].map(|cost| key.take(cost, 0).is_allowed()), [true, false]);
}

#[test]
fn a_window_is_read_from_text() {
    for (text, ms) in [
        ("1 m", MINUTE),
        ("90s", 90 * SECOND),
        ("1.5 h", 90 * MINUTE),
        ("500 ms", 500),
        ("1 d", DAY),
        ("2w", 14 * DAY),
    ] {
        assert_eq!(text.parse::<Window>().map(Window::ms), Ok(ms), "{text}");
    }
    for text in ["10", "10  s", "-1 s", "1e3 ms", "0 s", ""] {
        let error = text.parse::<Window>().unwrap_err().to_string();
        assert!(error.contains(&format!("{text:?}")) && error.contains("`1.5 h`"), "{error}");
    }
    assert!("0 s".parse::<Window>().unwrap_err().to_string().contains("1 ms to 1099511627776 ms (2^40)"));
}

#[test]
fn a_quota_of_nothing_is_closed() {
    for limit in kinds(0, Window::MINUTE) {
        for cost in [0, 1, Units::MAX.get()] {
            for charging in CHARGINGS {
                let mut key = Held::nothing(limit);
                for now in [0, 1, MINUTE, 400 * DAY] {
                    let decision = key.charge(cost, now, charging);
                    assert_eq!((decision.is_allowed(), decision.retry_at()), (false, None), "{limit} {cost}");
                    assert_eq!(decision.remaining(), 0, "{limit} {cost}");
                }
            }
        }
    }
}
