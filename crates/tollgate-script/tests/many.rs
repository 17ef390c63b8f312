//! Many takes in one call against the same takes one by one.

use std::time::Duration;

use proptest::{collection::vec, prelude::*, test_runner::TestRunner};
use tollgate_core::{Charging, Limit, Timestamp, Units, Window};
use tollgate_script::{
    Call, Prefix, Replay, Reply, Script, remembered_take_call, server_error, settle_call, take_answer,
    take_call, take_many_answers, take_many_call,
};
use tollgate_store::{Charge, Key, Name, Part, Settle, SettleId, StoreError, StoreErrorKind, Take};

use crate::support::Bench;

const NOW: Timestamp = Timestamp::from_unix_ms(1_796_040_000_250);
const KEEP: Duration = Duration::from_secs(10);
const PARTS: [[Part<'static>; 1]; 4] =
    [[Part::Number(0)], [Part::Number(1)], [Part::Number(2)], [Part::Text("strange")]];

/// A charge and at which of the keys.
type Asked = (usize, Limit, u64, Charging, bool);

/// A take: its charges, and how many minutes its clock is ahead.
#[derive(Clone, Debug)]
struct Wish(Vec<Asked>, u64);

fn wish() -> impl Strategy<Value = Wish> {
    let limit = prop_oneof![
        Just(Limit::fixed(5, Window::MINUTE)),
        Just(Limit::sliding(5, Window::MINUTE)),
        Just(Limit::bucket(5, 1, Window::MINUTE)),
    ];
    let charging = prop_oneof![Just(Charging::IfAllowed), Just(Charging::Always), Just(Charging::Never)];
    let asked = (0..PARTS.len(), limit, 0_u64..4, charging, any::<bool>());
    // Mostly one clock; those that are far ahead put the others behind.
    let ahead = prop_oneof![8 => Just(0_u64), 1 => Just(1), 1 => Just(3)];
    (vec(asked, 0..4), ahead).prop_map(|(charges, ahead)| Wish(charges, ahead))
}

impl Wish {
    /// What is done with the take, if no key comes up twice in it.
    fn with<T>(&self, then: impl FnOnce(&Take<'_>) -> T) -> Option<T> {
        let charges = self.0.iter().map(|&(key, limit, cost, charging, enforce)| {
            let name = match limit {
                Limit::TokenBucket { .. } => "b",
                Limit::FixedWindow { .. } => "f",
                Limit::SlidingWindow { .. } => "s",
            };
            let charge = Charge::new(Key::new(Name::new(name), &PARTS[key]), limit);
            Charge { cost: Units::new(cost), charging, enforce, ..charge }
        });
        let charges: Vec<_> = charges.collect();
        let take = Take { charges: &charges, now: NOW.saturating_add_ms(self.1 * 60_000) };
        take.check().is_ok().then(|| then(&take))
    }

    fn call(&self, prefix: &Prefix) -> Option<Call> {
        self.with(|take| take_call(prefix, take, None).expect("it was checked"))
    }
}

fn together(prefix: &Prefix, calls: &[Call], id: u128) -> Call {
    take_many_call(prefix, calls.iter(), Replay::new(id, KEEP)).expect("they are takes")
}

/// Texts and errors, as one call by itself has them.
fn lines(reply: &Reply, count: usize) -> Vec<Result<String, StoreErrorKind>> {
    let lines = take_many_answers(reply, count).expect("as many answers as takes");
    lines.map(|line| line.map(str::to_owned).map_err(|text| server_error(text).into_error().kind())).collect()
}

/// Plants a value of a wrong type and a counter that is none under two keys, for both prefixes.
fn plant(bench: &Bench, prefix: &Prefix) {
    bench.run(&["SADD", &format!("{prefix}:f:strange:29934000"), "x"]);
    bench.run(&["SET", &format!("{prefix}:s:strange:29934000"), "ten"]);
    bench.run(&["HSET", &format!("{prefix}:b:strange"), "refilled_at", "1"]);
}

#[test]
fn each_is_answered_and_counted_as_if_it_were_alone() {
    let bench = Bench::start();
    let [alone, many] = ["alone", "many"].map(|prefix| Prefix::try_new(prefix).expect("a good prefix"));
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let outcome = runner.run(&vec(vec(wish(), 0..12), 1..4), |rounds| {
        bench.run(&["FLUSHALL"]);
        plant(&bench, &alone);
        plant(&bench, &many);
        for (round, wishes) in rounds.iter().enumerate() {
            let answers =
                wishes.iter().filter_map(|wish| wish.call(&alone)).map(|call| match bench.call(&call) {
                    Ok(Reply::Text(text)) => Ok(text),
                    Ok(other) => panic!("a take is answered {other:?}"),
                    Err(error) => Err(error.kind()),
                });
            let answers: Vec<_> = answers.collect();
            let calls: Vec<_> = wishes.iter().filter_map(|wish| wish.call(&many)).collect();
            if calls.is_empty() {
                continue;
            }
            let call = together(&many, &calls, round as u128);
            let reply = bench.call(&call).expect("an answer");
            prop_assert_eq!(lines(&reply, calls.len()), answers);
            // However often it comes, it is counted once. What wrote nothing is told the same again by itself.
            prop_assert_eq!(bench.call(&call).expect("an answer"), reply);
        }
        let stored = |prefix: &str| {
            let begins = format!("{prefix}:");
            let all = bench.everything().into_iter();
            let counts = all.filter(|(key, ..)| key.starts_with(&begins) && !key.contains(":%:"));
            counts
                .map(|(key, dump, expires)| (key[begins.len()..].to_owned(), dump, expires))
                .collect::<Vec<_>>()
        };
        prop_assert_eq!(stored("many"), stored("alone"));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn one_alone_is_what_a_take_with_a_replay_is() {
    let wish = Wish(vec![(0, Limit::fixed(5, Window::MINUTE), 1, Charging::IfAllowed, true)], 0);
    let (prefix, replay) = (Prefix::default(), Replay::new(7, KEEP));
    let whole = wish.with(|take| take_call(&prefix, take, Some(replay)).expect("a good take"));
    let call = wish.call(&prefix).expect("a good take");
    assert_eq!(remembered_take_call(&prefix, &call, replay).ok(), whole);
}

#[test]
fn the_answers_are_remembered_for_a_while_and_under_a_name_of_their_own() {
    let bench = Bench::start();
    let prefix = Prefix::default();
    let wish = |key| Wish(vec![(key, Limit::fixed(5, Window::MINUTE), 1, Charging::IfAllowed, true)], 0);
    let calls: Vec<_> = (0..3).filter_map(|key| wish(key).call(&prefix)).collect();
    let (one, other) = (together(&prefix, &calls, 1), together(&prefix, &calls[..2], 1));
    assert_eq!(one.script, Script::TakeMany);
    let name = one.keys.last().expect("there is one");
    assert!(name.starts_with("limit:%:take:"), "{name}");
    assert_ne!(other.keys.last(), Some(name), "the same id for other takes is another call");
    bench.call(&one).expect("an answer");
    assert!((9_000..=10_000).contains(&bench.lives(name)));
    // What was refused changed nothing, and has nothing to be remembered for.
    bench.run(&["FLUSHALL"]);
    let refused = Wish(vec![(0, Limit::fixed(0, Window::MINUTE), 1, Charging::IfAllowed, true)], 0);
    bench.call(&together(&prefix, &[refused.call(&prefix).expect("a good take")], 2)).expect("an answer");
    assert_eq!(bench.everything(), []);
}

/// The server runs out of memory between two takes as it could between two calls.
#[test]
fn a_refusal_of_the_server_is_told_to_each() {
    let bench = Bench::start();
    let prefix = Prefix::default();
    let wish = Wish(vec![(0, Limit::fixed(5, Window::MINUTE), 1, Charging::IfAllowed, true)], 0);
    let call = wish.call(&prefix).expect("a good take");
    bench.run(&["CONFIG", "SET", "maxmemory", "1"]);
    let reply = bench.call(&together(&prefix, &[call.clone(), call], 1)).expect("an answer");
    let kinds: Vec<_> = lines(&reply, 2).into_iter().map(|line| line.expect_err("no memory")).collect();
    assert_eq!(kinds, [StoreErrorKind::Busy; 2]);
}

#[test]
fn what_is_no_answer_to_so_many_is_garbage() {
    let texts = |reply: &Reply, count| take_many_answers(reply, count).map(|lines| lines.len());
    let text = |text: &str| Reply::Text(text.to_owned());
    assert_eq!(texts(&text("3 - 0 0\n!ERR no\n2 0 5 0"), 3).ok(), Some(3));
    for (reply, count) in [(text("3 - 0 0"), 2), (text("a\nb"), 1), (Reply::Nil, 1), (Reply::Int(1), 1)] {
        let error: StoreError = texts(&reply, count).expect_err("no answer");
        assert_eq!(error.kind(), StoreErrorKind::Garbage, "{reply:?}");
    }
    // Each line goes through the same eyes as the answer to one.
    let take = Take { charges: &[], now: NOW };
    assert!(take_answer(&take, &text("1 1")).is_err());
}

#[test]
fn only_takes_are_made_together() {
    let settle = Settle { id: SettleId::new(1), corrections: &[], now: NOW };
    let call = settle_call(&Prefix::default(), &settle).expect("a good settlement");
    let (prefix, replay) = (Prefix::default(), Replay::new(1, KEEP));
    for made in
        [take_many_call(&prefix, [&call].into_iter(), replay), remembered_take_call(&prefix, &call, replay)]
    {
        assert_eq!(made.expect_err("no take").kind(), StoreErrorKind::Misuse);
    }
}
