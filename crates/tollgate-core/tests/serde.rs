//! Limits, windows and numbers in configuration files.

#![cfg(feature = "serde")]

use proptest::prelude::*;
use serde_json::{Value, json};
use tollgate_core::{Limit, Timestamp, Units, Window};

use crate::support::{at, units, width};

fn read(value: Value) -> Result<Limit, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn a_limit_has_a_text_and_a_table() {
    for (limit, text, table) in [
        (
            Limit::fixed(30, Window::MINUTE),
            "30 per 1 m",
            json!({"fixed-window": {"quota": 30, "window": "1 m"}}),
        ),
        (
            Limit::sliding(30, width(90_000)),
            "30 per 90 s sliding",
            json!({"sliding-window": {"quota": 30, "window": "90 s"}}),
        ),
        (
            Limit::bucket(100, 10, Window::SECOND),
            "bucket 100 refill 10 per 1 s",
            json!({"token-bucket": {"capacity": 100, "refill": 10, "interval": "1 s"}}),
        ),
    ] {
        assert_eq!(read(json!(text)), Ok(limit));
        assert_eq!(read(table.clone()), Ok(limit));
        // Text that is read in place, as from a file.
        assert_eq!(serde_json::from_str::<Limit>(&table.to_string()).unwrap(), limit);
        assert_eq!(serde_json::from_str::<Limit>(&format!("\"{text}\"")).unwrap(), limit);
        assert_eq!(serde_json::to_value(limit).unwrap(), table);
    }
}

#[test]
fn a_refusal_says_what_is_wrong_and_what_to_write() {
    for (value, reasons) in [
        (json!("30 per 1 minute"), &["window of a limit", "\"1 minute\"", "`1.5 h`"][..]),
        (json!("thirty"), &["\"thirty\"", "`30 per 1 m sliding`"]),
        (json!("9007199254740992 per 1 m"), &["out of range", "9007199254740992", "9007199254740991"]),
        (json!("bucket 3 refill 0 per 1 s"), &["at least 1"]),
        (json!(30), &["`30`", "\"30 per 1 m\"", "token-bucket"]),
        (json!(null), &["\"30 per 1 m\"", "token-bucket"]),
        (json!(["30 per 1 m"]), &["\"30 per 1 m\"", "token-bucket"]),
        (json!({}), &["exactly one entry"]),
        (json!({"fixed": {"quota": 30, "window": "1 m"}}), &["`fixed`", "`fixed-window`"]),
        (json!({"fixed-window": {"quota": 30}}), &["`window`"]),
        (json!({"fixed-window": {"quota": 30, "window": "1 m", "burst": 5}}), &["`burst`"]),
        (json!({"fixed-window": {"quota": 30, "window": 60}}), &["`60`", "\"90s\""]),
        (json!({"fixed-window": {"quota": 30, "window": "0 s"}}), &["\"0 s\"", "1 ms to"]),
        (json!({"fixed-window": {"quota": -1, "window": "1 m"}}), &["`-1`"]),
        (json!({"fixed-window": {"quota": 1.5, "window": "1 m"}}), &["`1.5`"]),
        (json!({"fixed-window": {"quota": 1u64 << 53, "window": "1 m"}}), &["9007199254740991", "coarser"]),
        (json!({"token-bucket": {"capacity": 3, "refill": 0, "interval": "1 s"}}), &["at least 1"]),
        (
            json!({
                "fixed-window": {"quota": 30, "window": "1 m"},
                "sliding-window": {"quota": 30, "window": "1 m"},
            }),
            &["exactly one entry"],
        ),
    ] {
        let error = read(value.clone()).unwrap_err();
        for reason in reasons {
            assert!(error.contains(reason), "{value}: {error}");
        }
    }
}

#[test]
fn windows_are_texts_and_the_rest_are_numbers() {
    assert_eq!(serde_json::to_value(Window::DAY).unwrap(), json!("1 d"));
    assert_eq!(serde_json::from_value::<Window>(json!("1.5 h")).unwrap(), width(5_400_000));
    assert_eq!(serde_json::to_value(Units::MAX).unwrap(), json!(9_007_199_254_740_991u64));
    assert_eq!(serde_json::from_value::<Units>(json!(7)).unwrap(), units(7));
    assert!(serde_json::from_value::<Units>(json!(1u64 << 53)).is_err());
    assert_eq!(serde_json::to_value(at(7)).unwrap(), json!(7));
    assert_eq!(serde_json::from_value::<Timestamp>(json!(u64::MAX)).unwrap(), Timestamp::MAX);
}

proptest! {
    #[test]
    fn every_limit_reads_back_both_ways(
        (quota, refill) in (0u64..1 << 53, 1u64..1 << 53),
        window in prop_oneof![1u64..=1 << 40, (1u64..=400).prop_map(|days| days * 86_400_000)],
    ) {
        let window = width(window);
        for limit in [
            Limit::fixed(quota, window),
            Limit::sliding(quota, window),
            Limit::bucket(quota, refill, window),
        ] {
            prop_assert_eq!(read(json!(limit.to_string())), Ok(limit));
            prop_assert_eq!(read(serde_json::to_value(limit).unwrap()), Ok(limit));
        }
    }
}
