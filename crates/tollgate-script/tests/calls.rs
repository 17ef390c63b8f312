//! What is sent: keys and arguments, word by word.

use std::time::Duration;

use tollgate_core::{Charging, Limit, Stamp, Timestamp, Units, Window};
use tollgate_script::{
    Call, Prefix, PrefixError, Replay, Script, Words, forget_call, settle_call, take_call,
};
use tollgate_store::{
    Charge, Correction, Forget, Key, KeyParts as _, Name, Part, Settle, SettleId, StoreErrorKind, Take,
    Target,
};

/// 2026-11-30 at 12:00:00.250 UTC.
const NOW: Timestamp = Timestamp::from_unix_ms(1_796_040_000_250);

fn words(words: &[&str]) -> Words {
    words.iter().copied().collect()
}

#[test]
fn a_take_names_all_windows_that_it_may_touch() {
    let (docs, chat) = (("docs", "2001:db8:0:0::/64").into_parts(), "{a}%\n".into_parts());
    let charges = [
        Charge::new(Key::new(Name::new("ask"), &docs), Limit::fixed(15, Window::DAY)),
        Charge {
            cost: Units::new(3),
            charging: Charging::Always,
            enforce: false,
            ..Charge::new(Key::new(Name::new("chat"), &chat), Limit::sliding(30, Window::MINUTE))
        },
        Charge {
            charging: Charging::Never,
            ..Charge::new(Key::new(Name::new("runs"), &[]), Limit::bucket(100, 10, Window::SECOND))
        },
    ];
    let call =
        take_call(&Prefix::default(), &Take { charges: &charges, now: NOW }, None).expect("a good take");
    assert_eq!(
        call,
        Call {
            script: Script::Take,
            keys: words(&[
                "limit:ask:docs:2001:db8:0:0::/64:20787",
                "limit:ask:docs:2001:db8:0:0::/64:20788",
                "limit:ask:docs:2001:db8:0:0::/64:20789",
                "limit:chat:%7Ba%7D%25%0A:29933999",
                "limit:chat:%7Ba%7D%25%0A:29934000",
                "limit:chat:%7Ba%7D%25%0A:29934001",
                "limit:chat:%7Ba%7D%25%0A:29934002",
                "limit:runs",
            ]),
            args: words(&[
                // Twelve hours less 250 ms are left of the day, and a second more.
                "fiv",
                "1",
                "15",
                "86400000",
                "43200750",
                // A sliding counter weighs for another window.
                "sa-",
                "3",
                "30",
                "60000",
                "120750",
                "bnv",
                "1",
                "100",
                "1000",
                "10",
                "1796040000250",
            ]),
        }
    );
}

#[test]
fn a_settlement_names_the_windows_it_corrects() {
    let parts = "docs".into_parts();
    let key = |name| Key::new(Name::new(name), &parts);
    let stamp = Stamp::ending_at(Timestamp::from_unix_ms(1_796_040_060_000));
    let corrections = [
        Correction { key: key("a"), limit: Limit::fixed(9, Window::MINUTE), stamp, delta: -5 },
        Correction { key: key("b"), limit: Limit::sliding(9, Window::MINUTE), stamp, delta: i64::MIN },
        Correction { key: key("c"), limit: Limit::bucket(9, 2, Window::SECOND), stamp, delta: -7 },
        // No day ends then: whatever this was charged under, it was another limit.
        Correction { key: key("d"), limit: Limit::fixed(9, Window::DAY), stamp, delta: -5 },
    ];
    let settle = Settle { id: SettleId::new(0xABC), corrections: &corrections, now: NOW };
    let call = settle_call(&Prefix::default(), &settle).expect("a good settlement");
    assert_eq!(
        call,
        Call {
            script: Script::Settle,
            keys: words(&[
                "limit:%:settle:00000000000000000000000000000abc",
                "limit:a:docs:29934000",
                "limit:b:docs:29934000",
                "limit:c:docs",
            ]),
            args: words(&[
                // Until the sliding window no longer weighs, and a second more.
                "1796040000250",
                "120750",
                "f",
                "-5",
                "0",
                "60000",
                "1796040000000",
                "s",
                "-9007199254740991",
                "-9007199254740991",
                "60000",
                "1796040000000",
                "b",
                "-7",
                "0",
                "1000",
                "2",
                "9",
            ]),
        }
    );
}

#[test]
fn a_forgetting_names_every_window_that_a_take_could_find() {
    let parts = "docs".into_parts();
    let key = |name| Key::new(Name::new(name), &parts);
    let targets = [
        Target { key: key("a"), limit: Limit::fixed(9, Window::MINUTE) },
        Target { key: key("c"), limit: Limit::bucket(9, 2, Window::SECOND) },
    ];
    let call = forget_call(&Prefix::default(), &Forget { targets: &targets, now: NOW }).expect("a good one");
    let windows =
        ["29933999", "29934000", "29934001", "29934002"].map(|number| format!("limit:a:docs:{number}"));
    let expected: Words = windows.iter().map(String::as_str).chain(["limit:c:docs"]).collect();
    assert_eq!(call.keys, expected);
    assert!(call.args.is_empty());
}

#[test]
fn misuse_is_refused_before_anything_is_sent() {
    let key = Key::new(Name::new("ask"), &[]);
    let limit = Limit::fixed(1, Window::DAY);
    let twice = [Charge::new(key, limit); 2];
    let error = take_call(&Prefix::default(), &Take { charges: &twice, now: NOW }, None).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misuse);
    let correction = Correction { key, limit, stamp: Stamp::ending_at(NOW), delta: 1 };
    let settle = Settle { id: SettleId::new(0), corrections: &[correction; 9], now: NOW };
    assert_eq!(settle_call(&Prefix::default(), &settle).unwrap_err().kind(), StoreErrorKind::Misuse);
    let forget = Forget { targets: &[Target { key, limit }; 2], now: NOW };
    assert_eq!(forget_call(&Prefix::default(), &forget).unwrap_err().kind(), StoreErrorKind::Misuse);
}

#[test]
fn an_answer_is_remembered_for_one_call_and_no_other() {
    let parts = [Part::Text("a"), Part::Text("b")];
    let call = |parts: &[Part<'_>], quota, now, id| {
        let charge = Charge::new(Key::new(Name::new("ask"), parts), Limit::fixed(quota, Window::DAY));
        let replay = Replay::new(id, Duration::from_millis(1_500));
        take_call(&Prefix::default(), &Take { charges: &[charge], now }, Some(replay)).expect("a good take")
    };
    let first = call(&parts, 5, NOW, 1);
    let name = first.keys.last().expect("there is one");
    assert!(name.starts_with("limit:%:take:") && name.len() == 45, "{name}");
    assert!(first.args.iter().take(2).eq(["r", "1500"]), "{:?}", first.args);
    assert_eq!(first, call(&parts, 5, NOW, 1), "the same request is the same call");
    for (other, why) in [
        (call(&parts, 5, NOW, 2), "another id"),
        (call(&parts, 6, NOW, 1), "another quota"),
        (call(&parts[..1], 5, NOW, 1), "another key"),
        (call(&parts, 5, NOW.saturating_add_ms(1), 1), "another time"),
    ] {
        assert_ne!(other.keys.last(), first.keys.last(), "{why}");
    }
}

#[test]
fn odd_lifetimes_of_an_answer_become_usable_ones() {
    let keep = |keep| {
        let take = Take { charges: &[], now: NOW };
        let call = take_call(&Prefix::default(), &take, Some(Replay::new(0, keep))).expect("a good take");
        call.args[1].parse::<u64>().expect("a number")
    };
    assert_eq!(keep(Duration::ZERO), 1);
    assert_eq!(keep(Duration::from_nanos(1_000_001)), 2);
    assert_eq!(keep(Duration::MAX), 366 * 86_400_000);
}

#[test]
fn a_prefix_holds_nothing_that_means_something_else() {
    let longest = "x".repeat(Prefix::LONGEST);
    for good in ["limit", "web-agents", "@upstash/ratelimit", "a:b", "ä", &longest] {
        assert_eq!(Prefix::try_new(good).map(|prefix| prefix.to_string()), Ok(good.to_owned()));
    }
    let too_long = "x".repeat(Prefix::LONGEST + 1);
    for bad in ["", "a b", "a\n", "{a}", "a}", "a%", "a\u{7f}", "\u{a0}", &too_long] {
        let error: PrefixError = Prefix::try_new(bad).unwrap_err();
        assert!(error.to_string().contains("is no prefix: use 1 to 128 bytes"), "{bad:?}");
    }
}
