//! Deliveries that repeat, fail, die and are refused: on memory, Redis and Upstash through a gateway.

use std::time::Duration;

use http_body_util::BodyExt as _;
use tollgate_webhook::{DeliveryTicket, Hold, OnClaimOutage};
use tower::ServiceExt as _;

use crate::rig::{Rig, Stand};

macro_rules! on_every_store {
    ($($case:ident)*) => {
        mod memory {
            $(#[tokio::test] async fn $case() { super::$case(super::Stand::memory()).await; })*
        }
        mod redis {
            $(#[tokio::test] async fn $case() { super::$case(super::Stand::redis()).await; })*
        }
        mod upstash {
            $(#[tokio::test] async fn $case() { super::$case(super::Stand::upstash()).await; })*
        }
    };
}

on_every_store! {
    d1_what_is_done_is_a_duplicate
    d2_what_is_running_is_in_progress
    d3_what_failed_is_processed_again
    d4_what_a_process_died_of_is_processed_after_the_lease
    d5_a_claim_that_is_sent_twice_is_processed_once
    d6_a_wrong_signature_writes_nothing
    d7_two_hooks_of_one_event_are_both_processed
    d8_three_days_later_it_is_still_a_duplicate
    d9_in_an_outage_the_endpoint_says_what_is_done
    d10_what_the_daily_cap_refuses_is_processed_tomorrow
    a_panic_and_a_cancelled_request_release
    what_is_handed_over_is_confirmed_elsewhere
    what_is_handed_over_stays_so_whatever_becomes_of_the_request
    a_hand_over_that_fails_is_taken_back
}

const HOUR: Duration = Duration::from_secs(3_600);

async fn d1_what_is_done_is_a_duplicate(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    assert_eq!(rig.send("1", "done").await, 200);
    let answer = rig.answer(rig.request("1", "done")).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), r#"{"delivery":"duplicate"}"#);
    assert_eq!(rig.runs(), 1);
    assert_eq!(rig.send("2", "done").await, 200);
    assert_eq!((rig.runs(), stand.keys()), (2, 2));
}

async fn d2_what_is_running_is_in_progress(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let running = tokio::spawn(rig.behind(&rig.layer()).oneshot(rig.request("1", "stall")));
    rig.started.notified().await;
    for _ in 0..2 {
        assert_eq!(rig.send("1", "done").await, 202);
    }
    assert_eq!(rig.runs(), 1);
    rig.go_on.notify_one();
    assert_eq!(running.await.unwrap().unwrap().status(), 200);
    let answer = rig.answer(rig.request("1", "done")).await;
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), r#"{"delivery":"duplicate"}"#);
    assert_eq!(rig.runs(), 1);
}

async fn d3_what_failed_is_processed_again(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    assert_eq!(rig.send("1", "fail").await, 500);
    assert_eq!(stand.keys(), 0);
    let broken = rig.behind(&rig.layer()).oneshot(rig.request("1", "break")).await;
    assert_eq!(broken.unwrap_err().to_string(), "the service is broken", "its error is its own");
    assert_eq!(rig.send("1", "done").await, 200);
    assert_eq!(rig.runs(), 3);
    assert_eq!(rig.send("2", "bad-but-done").await, 422);
    assert_eq!((rig.send("2", "done").await, rig.runs()), (200, 4));
}

async fn d4_what_a_process_died_of_is_processed_after_the_lease(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    // As after `kill -9`: the claim is there, and nobody will end it.
    assert_eq!(rig.send("1", "hand-over").await, 202);
    rig.clock.advance(Duration::from_millis(299_999));
    assert_eq!((rig.send("1", "done").await, rig.runs()), (202, 1));
    rig.clock.advance(Duration::from_millis(1));
    assert_eq!((rig.send("1", "done").await, rig.runs()), (200, 2));
}

async fn d5_a_claim_that_is_sent_twice_is_processed_once(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    stand.claims.send_twice();
    for (id, act, status) in [("1", "done", 200), ("2", "fail", 500), ("2", "done", 200)] {
        assert_eq!(rig.send(id, act).await, status);
    }
    assert_eq!(rig.runs(), 3);
    for id in ["1", "2"] {
        assert_eq!((rig.send(id, "done").await, rig.runs()), (200, 3));
    }
}

async fn d6_a_wrong_signature_writes_nothing(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let mut forged = rig.request("1", "done");
    let other = rig.secrets.sign(b"another body");
    forged.headers_mut().insert("x-hub-signature-256", other.parse().unwrap());
    assert_eq!(rig.answer(forged).await.status(), 401);
    let mut unsigned = rig.request("1", "done");
    unsigned.headers_mut().remove("x-hub-signature-256");
    assert_eq!(rig.answer(unsigned).await.status(), 401);
    assert_eq!((rig.runs(), stand.keys()), (0, 0));
    assert_eq!((rig.send("1", "done").await, rig.runs()), (200, 1));
}

async fn d7_two_hooks_of_one_event_are_both_processed(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    assert_eq!(rig.send("1", "done").await, 200);
    let mut other = rig.request("1", "done");
    other.headers_mut().insert("x-github-hook-id", "18".parse().unwrap());
    assert_eq!(rig.answer(other.clone()).await.status(), 200);
    assert_eq!(rig.runs(), 2);
    assert_eq!(rig.answer(other).await.status(), 200);
    assert_eq!((rig.runs(), stand.keys()), (2, 2));
    // Or by project, whatever the hook is.
    let by_project = rig.layer().scope(|head| Ok(head.uri.path().to_owned()));
    for (hook, runs) in [("17", 3), ("18", 3)] {
        let mut request = rig.request("1", "done");
        request.headers_mut().insert("x-github-hook-id", hook.parse().unwrap());
        assert_eq!(rig.behind(&by_project).oneshot(request).await.unwrap().status(), 200);
        assert_eq!(rig.runs(), runs);
    }
}

async fn d8_three_days_later_it_is_still_a_duplicate(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    assert_eq!(rig.send("1", "done").await, 200);
    rig.clock.advance(3 * 24 * HOUR);
    assert_eq!((rig.send("1", "done").await, rig.runs()), (200, 1));
    rig.clock.advance(4 * 24 * HOUR);
    assert_eq!((rig.send("1", "done").await, rig.runs()), (200, 2));
}

async fn d9_in_an_outage_the_endpoint_says_what_is_done(stand: Stand) {
    let (anyway, unavailable) =
        (stand.rig(OnClaimOutage::ProcessAnyway), stand.rig(OnClaimOutage::Unavailable));
    stand.claims.fail(true);
    assert_eq!((anyway.send("1", "done").await, anyway.runs()), (200, 1));
    assert_eq!((anyway.send("1", "done").await, anyway.runs()), (200, 2), "at least once");
    let answer = unavailable.answer(unavailable.request("1", "done")).await;
    assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (503, &"60".parse().unwrap()));
    assert_eq!(unavailable.runs(), 0);
    // What could not be confirmed is tried once more, in vain.
    anyway.settled().await;
    stand.claims.fail(false);
    assert_eq!((unavailable.send("1", "done").await, unavailable.runs()), (200, 1));
    assert_eq!((anyway.send("1", "done").await, anyway.runs()), (200, 2), "a duplicate again");
}

async fn d10_what_the_daily_cap_refuses_is_processed_tomorrow(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    for id in ["1", "2"] {
        assert_eq!(rig.send(id, "capped").await, 200);
    }
    // Neither spends what is left, nor the claim of what was refused.
    for (id, status) in [("1", 200), ("3", 429), ("2", 200), ("3", 429), ("4", 429)] {
        assert_eq!(rig.send(id, "capped").await, status, "{id}");
        assert_eq!(stand.keys(), 2, "{id}");
    }
    // A service that refuses by itself, and answers that it took the delivery.
    assert_eq!((rig.send("5", "later").await, stand.keys(), rig.runs()), (202, 2, 6));
    rig.clock.advance(24 * HOUR);
    for (id, status, runs) in [("3", 200, 7), ("1", 200, 7), ("4", 200, 8), ("4", 200, 8), ("5", 429, 9)] {
        assert_eq!((rig.send(id, "capped").await, rig.runs()), (status, runs), "{id}");
    }
}

/// As d9, with nothing pretended: the server is killed before a claim, and between a claim and its confirmation.
async fn d9_a_server_that_is_killed_is_an_outage(mut stand: Stand) {
    let (anyway, unavailable) =
        (stand.rig(OnClaimOutage::ProcessAnyway), stand.rig(OnClaimOutage::Unavailable));
    assert_eq!((unavailable.send("0", "done").await, unavailable.runs()), (200, 1));
    let running =
        tokio::spawn(unavailable.behind(&unavailable.layer()).oneshot(unavailable.request("1", "stall")));
    unavailable.started.notified().await;
    stand.server().kill();
    unavailable.go_on.notify_one();
    assert_eq!(
        running.await.unwrap().unwrap().status(),
        200,
        "the work is done, whatever is remembered of it"
    );
    for runs in [1, 2] {
        assert_eq!((anyway.send("2", "done").await, anyway.runs()), (200, runs), "at least once");
    }
    let answer = unavailable.answer(unavailable.request("2", "done")).await;
    assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (503, &"60".parse().unwrap()));
    assert_eq!(unavailable.runs(), 2);
    // What could not be confirmed is tried once more, in vain. What comes back then knows nothing of what was.
    anyway.settled().await;
    unavailable.settled().await;
    stand.server().restart();
    for (id, runs) in [("2", 3), ("2", 3), ("1", 4), ("1", 4)] {
        assert_eq!((unavailable.send(id, "done").await, unavailable.runs()), (200, runs), "{id}");
    }
    assert_eq!((anyway.send("2", "done").await, anyway.runs()), (200, 2), "a duplicate again");
}

#[tokio::test]
async fn d9_a_redis_that_is_killed_is_an_outage() {
    d9_a_server_that_is_killed_is_an_outage(Stand::redis()).await;
}

#[tokio::test]
async fn d9_a_redis_that_is_killed_behind_its_gateway_is_an_outage() {
    d9_a_server_that_is_killed_is_an_outage(Stand::upstash()).await;
}

async fn a_panic_and_a_cancelled_request_release(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let panics = tokio::spawn(rig.behind(&rig.layer()).oneshot(rig.request("1", "panic")));
    assert!(panics.await.unwrap_err().is_panic());
    freed(&rig, "1").await;
    let given_up = tokio::spawn(rig.behind(&rig.layer()).oneshot(rig.request("2", "stall")));
    rig.started.notified().await;
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());
    freed(&rig, "2").await;
}

/// The release, which is in the background, makes the next of this id the first again.
async fn freed(rig: &Rig, id: &str) {
    rig.settled().await;
    let runs = rig.runs();
    assert_eq!((rig.send(id, "done").await, rig.runs()), (200, runs + 1));
}

async fn what_is_handed_over_is_confirmed_elsewhere(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    let answer = rig.answer(rig.request("1", "hand-over")).await;
    let ticket = answer.into_body().collect().await.unwrap().to_bytes();
    let ticket: DeliveryTicket = std::str::from_utf8(&ticket).unwrap().parse().unwrap();
    assert_eq!(rig.deliveries.renew(&ticket).await.unwrap(), Hold::Ours);
    assert_eq!((rig.send("1", "done").await, rig.runs()), (202, 1));
    assert_eq!(rig.deliveries.take_over(ticket).confirm().await.unwrap(), Hold::Ours);
    assert_eq!((rig.send("1", "done").await, rig.runs()), (200, 1));
}

async fn what_is_handed_over_stays_so_whatever_becomes_of_the_request(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    assert_eq!(rig.send("1", "queue").await, 500);
    let panics = tokio::spawn(rig.behind(&rig.layer()).oneshot(rig.request("2", "queue-and-panic")));
    assert!(panics.await.unwrap_err().is_panic());
    let given_up = tokio::spawn(rig.behind(&rig.layer()).oneshot(rig.request("3", "queue-and-stall")));
    rig.started.notified().await;
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());
    // What would be released in the background has its chance.
    rig.settled().await;
    let runs = rig.runs();
    for id in ["1", "2", "3"] {
        assert_eq!((rig.send(id, "done").await, rig.runs()), (202, runs), "{id}");
    }
}

async fn a_hand_over_that_fails_is_taken_back(stand: Stand) {
    let rig = stand.rig(OnClaimOutage::Unavailable);
    assert_eq!(rig.send("1", "queue-in-vain").await, 503);
    assert_eq!((rig.send("1", "done").await, rig.runs()), (200, 2));
    // By a task that outlives its request.
    assert_eq!(rig.send("2", "queue-elsewhere").await, 202);
    assert_eq!((rig.send("2", "done").await, rig.runs()), (202, 3));
    rig.go_on.notify_one();
    freed(&rig, "2").await;
}
