//! What an outcome looks like on the wire: statuses, fields, problem bodies.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::{sync::Arc, time::Duration};

use common::{ASK, BURST, CLOSED, HIDDEN, Mode, SLIDING, START_MS, TinyStore, guard};
use http::{HeaderMap, Response, header};
use serde_json::{Value, json};
use tollgate_guard::{Guard, Limit, ManualClock, OnOutage, Outcome, Policy, PolicyCharge, Share, Window};
use tollgate_http::{Passed, QUOTA_EXCEEDED, Refused, TEMPORARY_REDUCED_CAPACITY, admit};
use tollgate_store::Store;

fn now<S: Store>(guard: &Guard<S>, charges: &[PolicyCharge<'_>]) -> Result<Passed, Refused> {
    admit(guard.check_now(charges).unwrap(), guard.now())
}

/// Takes the charges so many times.
fn spend<S: Store>(guard: &Guard<S>, charges: &[PolicyCharge<'_>], times: usize) {
    for _ in 0..times {
        assert!(guard.check_now(charges).unwrap().is_allowed());
    }
}

fn refuse<S: Store>(guard: &Guard<S>, charges: &[PolicyCharge<'_>]) -> Response<Vec<u8>> {
    now(guard, charges).unwrap_err().into_response()
}

fn fields(passed: &Passed) -> HeaderMap {
    let mut headers = HeaderMap::new();
    passed.apply(&mut headers);
    headers
}

fn problem(response: &Response<Vec<u8>>) -> Value {
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    let problem: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(problem["status"], response.status().as_u16());
    problem
}

#[test]
fn h1_retry_after_is_rounded_up() {
    let (guard, clock) = guard(Mode::Now);
    // A sliding window of 1.5 s from START_MS: no whole second anywhere.
    let charges = [SLIDING.charge(())];
    spend(&guard, &charges, 2);
    clock.advance(Duration::from_millis(1));
    let refused = now(&guard, &charges).unwrap_err();
    let wait = refused.retry_at().unwrap().since(guard.now());
    let response: Response<Vec<u8>> = refused.into_response();
    let told =
        Duration::from_secs(response.headers()[header::RETRY_AFTER].to_str().unwrap().parse().unwrap());
    assert!(told >= wait && told - wait < Duration::from_secs(1), "told {told:?}, is {wait:?}");

    // Exactly 1.9 s before the window ends.
    let (guard, clock) = common::guard(Mode::Now);
    let charges = [BURST.charge("a")];
    spend(&guard, &charges, 20);
    clock.advance(Duration::from_millis(59_000 - 1_900));
    let response = refuse(&guard, &charges);
    assert_eq!(response.headers()[header::RETRY_AFTER], "2");
    assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=0;t=2"#);
}

#[test]
fn h2_retry_after_is_at_least_1() {
    let (guard, clock) = guard(Mode::Now);
    let charges = [BURST.charge("a")];
    spend(&guard, &charges, 20);
    let outcome = guard.check_now(&charges).unwrap();
    for late in [59_000, 59_001, 600_000] {
        clock.set_unix_ms(START_MS + late);
        let response: Response<Vec<u8>> = admit(outcome.clone(), guard.now()).unwrap_err().into_response();
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=0;t=0"#);
    }
}

#[test]
fn h3_the_body_names_what_refuses_and_the_fields_name_all() {
    let (guard, _) = guard(Mode::Now);
    let charges = [BURST.charge("a"), ASK.charge("a")];
    spend(&guard, &charges, 2);
    let response = refuse(&guard, &charges);
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["ratelimit-policy"], r#""ask-burst";q=20;w=60, "ask";q=2;w=86400"#);
    assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=18;t=59, "ask";r=0;t=86399"#);
    assert_eq!(response.headers()[header::RETRY_AFTER], "86399");
    assert_eq!(
        problem(&response),
        json!({
            "type": QUOTA_EXCEEDED,
            "title": "Quota exceeded",
            "status": 429,
            "detail": "A limit is reached: ask. Try again in 86399 s.",
            "violated-policies": ["ask"],
        })
    );
}

#[test]
fn retry_after_waits_for_all_that_refuse() {
    const SHORT: Policy<0> = Policy::new("short", Limit::fixed(1, Window::MINUTE), OnOutage::Deny);
    const LONG: Policy<0> = Policy::new("long", Limit::fixed(1, Window::HOUR), OnOutage::Deny);
    let guard = Guard::builder(TinyStore::new(Mode::Now)).policies([SHORT, LONG]);
    let guard = guard.clock(ManualClock::at_unix_ms(START_MS)).build().unwrap();
    let charges = [SHORT.charge(()), LONG.charge(())];
    spend(&guard, &charges, 1);
    let refused = now(&guard, &charges).unwrap_err();
    let waits: Vec<_> =
        refused.refusal().unwrap().refusing().map(|said| said.decision().retry_at()).collect();
    assert_eq!(waits.len(), 2);
    assert_eq!(refused.retry_at(), waits.into_iter().max().unwrap());
    assert_eq!(problem(&refused.into_response())["violated-policies"], json!(["short", "long"]));
}

#[test]
fn h5_an_outage_is_no_exceeded_quota() {
    let (guard, _) = guard(Mode::Fail);
    let response = refuse(&guard, &[ASK.charge("a")]);
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()[header::RETRY_AFTER], "60");
    assert!(!response.headers().contains_key("ratelimit"));
    assert_eq!(
        problem(&response),
        json!({
            "type": TEMPORARY_REDUCED_CAPACITY,
            "title": "Temporarily reduced capacity",
            "status": 503,
            "detail": "The limits cannot be checked just now. Try again in 60 s.",
            "violated-policies": [],
        })
    );
    let refused = now(&guard, &[ASK.charge("a")]).unwrap_err();
    assert!(refused.outage().is_some() && refused.refusal().is_none());
}

#[test]
fn a_wrong_check_is_the_servers_fault() {
    const UNKNOWN: Policy<0> = Policy::new("unknown", Limit::fixed(1, Window::DAY), OnOutage::Allow);
    let (guard, _) = guard(Mode::Now);
    let response = refuse(&guard, &[UNKNOWN.charge(())]);
    assert_eq!(response.status(), 500);
    assert!(!response.headers().contains_key(header::RETRY_AFTER));
    let problem = problem(&response);
    assert_eq!((&problem["type"], &problem["title"]), (&Value::Null, &json!("Internal Server Error")));
}

#[test]
fn h7_an_allowed_request_has_the_fields_too() {
    let (guard, _) = guard(Mode::Now);
    let passed = now(&guard, &[BURST.charge("a"), ASK.charge("a")]).unwrap();
    let headers = fields(&passed);
    assert_eq!(headers["ratelimit-policy"], r#""ask-burst";q=20;w=60, "ask";q=2;w=86400"#);
    assert_eq!(headers["ratelimit"], r#""ask-burst";r=19;t=59, "ask";r=1;t=86399"#);
    assert_eq!(headers.len(), 2);
    assert_eq!(passed.pass().decisions().len(), 2);
}

#[test]
fn hidden_policies_are_in_neither_fields_nor_body() {
    let (guard, _) = guard(Mode::Now);
    let charges = [BURST.charge("a"), HIDDEN.charge(())];
    for _ in 0..3 {
        let headers = fields(&now(&guard, &charges).unwrap());
        assert_eq!(headers["ratelimit-policy"], r#""ask-burst";q=20;w=60"#);
    }
    let response = refuse(&guard, &charges);
    assert_eq!(response.headers()["ratelimit"], r#""ask-burst";r=17;t=59"#);
    let problem = problem(&response);
    assert_eq!(problem["violated-policies"], json!([]));
    assert_eq!(problem["detail"], "A limit is reached. Try again in 86399 s.");
    assert!(!String::from_utf8_lossy(response.body()).contains("ask-all"));

    // Nothing to say: no field at all, since an empty List has no form.
    let response = refuse(&guard, &[HIDDEN.charge(())]);
    assert!(
        !response.headers().contains_key("ratelimit-policy") && !response.headers().contains_key("ratelimit")
    );
}

#[test]
fn what_can_never_be_admitted_has_no_retry_after() {
    let (guard, _) = guard(Mode::Now);
    for charges in [[CLOSED.charge(())], [ASK.charge("a").cost(3)]] {
        let response = refuse(&guard, &charges);
        assert_eq!(response.status(), 429);
        assert!(!response.headers().contains_key(header::RETRY_AFTER));
        assert!(response.headers().contains_key("ratelimit"));
        let problem = problem(&response);
        assert!(problem["detail"].as_str().unwrap().contains("Trying again does not help"), "{problem}");
    }
}

#[test]
fn a_shadow_is_not_told() {
    let (guard, _) = guard(Mode::Now);
    let charges = [BURST.charge("a"), CLOSED.charge(()).shadow(), ASK.charge("b").shadow()];
    let headers = fields(&now(&guard, &charges).unwrap());
    assert_eq!(headers["ratelimit"], r#""ask-burst";r=19;t=59"#);
    let charges = [ASK.charge("a").cost(3), CLOSED.charge(()).shadow()];
    let response = refuse(&guard, &charges);
    assert_eq!(response.headers()["ratelimit-policy"], r#""ask";q=2;w=86400"#);
    assert_eq!(problem(&response)["violated-policies"], json!(["ask"]));
}

#[test]
fn a_count_of_this_machine_is_told_as_it_is() {
    const CHAT: Policy<0> =
        Policy::new("chat", Limit::fixed(10, Window::MINUTE), OnOutage::Local(Share::percent(50)));
    let local: Arc<dyn Store> = Arc::new(TinyStore::new(Mode::Now));
    let guard = Guard::builder(TinyStore::new(Mode::Fail)).policy(CHAT).local(local).build().unwrap();
    let passed = now(&guard, &[CHAT.charge(())]).unwrap();
    assert_eq!(fields(&passed)["ratelimit-policy"], r#""chat";q=5;w=60"#);
    assert!(passed.pass().outage().is_some());
}

#[test]
fn let_through_uncounted_there_is_nothing_to_tell() {
    let (guard, _) = guard(Mode::Fail);
    let passed = now(&guard, &[SLIDING.charge(())]).unwrap();
    assert!(fields(&passed).is_empty() && passed.into_pass().outage().is_some());
}

#[test]
fn fields_that_are_there_stay() {
    let (guard, _) = guard(Mode::Now);
    let mut headers = fields(&now(&guard, &[ASK.charge("a")]).unwrap());
    now(&guard, &[BURST.charge("a")]).unwrap().apply(&mut headers);
    let lines: Vec<_> = headers.get_all("ratelimit-policy").iter().collect();
    assert_eq!(lines, [r#""ask";q=2;w=86400"#, r#""ask-burst";q=20;w=60"#]);

    // A refusal fills in what a response of one's own lacks.
    let refused = now(&guard, &[ASK.charge("a").cost(2)]).unwrap_err();
    let mut own = HeaderMap::new();
    own.insert(header::CACHE_CONTROL, "private".parse().unwrap());
    refused.apply(&mut own);
    let once = own.clone();
    refused.apply(&mut own);
    assert_eq!(own, once);
    assert_eq!(own[header::CACHE_CONTROL], "private");
    assert_eq!(own[header::RETRY_AFTER], "86399");
}

#[test]
fn legacy_fields_speak_of_the_policy_that_is_closest() {
    let (guard, _) = guard(Mode::Now);
    let charges = [BURST.charge("a"), ASK.charge("a"), HIDDEN.charge(())];
    let legacy = |headers: &HeaderMap| {
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]
            .map(|name| headers[name].to_str().unwrap().to_owned())
    };
    let day_ends = (START_MS / 86_400_000 + 1) * 86_400;
    for left in ["1", "0"] {
        let passed = now(&guard, &charges).unwrap().with_legacy_fields();
        assert_eq!(legacy(&fields(&passed)), ["2", left, &day_ends.to_string()]);
    }
    let refused = now(&guard, &charges).unwrap_err().with_legacy_fields();
    let response: Response<Vec<u8>> = refused.into_response();
    assert_eq!(legacy(response.headers()), ["2", "0", &day_ends.to_string()]);
    // A policy that refuses comes before one that has less left.
    let charges = [BURST.charge("a").cost(19), ASK.charge("b")];
    let refused = now(&guard, &charges).unwrap_err().with_legacy_fields();
    let response: Response<Vec<u8>> = refused.into_response();
    assert_eq!(legacy(response.headers())[..2], ["20", "18"]);
}

#[test]
fn answers_name_no_visitor() {
    let (guard, _) = guard(Mode::Now);
    let charges = [ASK.charge("203.0.113.7").cost(3)];
    let outcome = guard.check_now(&charges).unwrap();
    assert!(matches!(outcome, Outcome::Deny(_)));
    let refused = admit(outcome, guard.now()).unwrap_err();
    assert!(!format!("{refused:?}").contains("203.0.113"));
    let response: Response<Vec<u8>> = refused.into_response();
    assert!(
        !format!("{:?} {}", response.headers(), String::from_utf8_lossy(response.body()))
            .contains("203.0.113")
    );
}
