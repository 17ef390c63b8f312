//! Two machines on one Redis, and answers that are lost between them.

use std::time::Duration;

use futures_util::future::join_all;
use tollgate_guard::{Clock as _, ManualClock};
use tollgate_redis::RedisStore;
use tollgate_store::Hold;
use tollgate_testbed::{Proxy, RedisServer};
use tollgate_webhook::{Begin, Deliveries, OnClaimOutage};

use crate::deliveries::{first, id};

fn machine(url: &str) -> Deliveries {
    let clock = ManualClock::at_unix_ms(1_796_040_000_000);
    let store = RedisStore::builder(url).deadline(Duration::from_secs(20)).build().unwrap();
    let builder = Deliveries::builder("github", store, OnClaimOutage::Unavailable, move || clock.now());
    builder.spawner(|task| drop(tokio::spawn(task))).build().unwrap()
}

#[tokio::test]
async fn two_machines_that_race_for_one_id_never_both_win() {
    let server = RedisServer::start();
    let machines = [machine(&server.url()), machine(&server.url())];
    for round in 0..50 {
        let id = id(&format!("round-{round}"));
        let begun = join_all(machines.iter().map(|machine| machine.begin("17", &id))).await;
        let mut won: Vec<_> = begun
            .into_iter()
            .filter_map(|begun| if let Begin::First(one) = begun { Some(one) } else { None })
            .collect();
        assert_eq!(won.len(), 1, "round {round}");
        assert_eq!(won.remove(0).confirm().await.unwrap(), Hold::Ours);
        for machine in &machines {
            assert!(matches!(machine.begin("17", &id).await, Begin::Duplicate));
        }
    }
}

#[tokio::test]
async fn a_lost_answer_at_any_step_is_harmless() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.address());
    let (near, far) = (machine(&server.url()), machine(&format!("redis://{}", proxy.address())));
    // The scripts are known to the server, and the connection is open.
    let warm = first(&far, &id("warm")).await.unwrap();
    assert_eq!(warm.renew().await.unwrap(), Hold::Ours);
    assert_eq!(warm.confirm().await.unwrap(), Hold::Ours);
    first(&far, &id("warm-too")).await.unwrap().release().await.unwrap();
    for round in 0..5 {
        let id = id(&format!("round-{round}"));
        proxy.lose(1);
        let delivery = first(&far, &id).await.expect("the claim is ours, though its answer was lost");
        assert!(first(&near, &id).await.is_none());
        proxy.lose(1);
        assert_eq!(delivery.renew().await.unwrap(), Hold::Ours);
        if round % 2 == 0 {
            proxy.lose(1);
            assert_eq!(delivery.confirm().await.unwrap(), Hold::Ours);
            assert!(matches!(near.begin("17", &id).await, Begin::Duplicate));
        } else {
            proxy.lose(1);
            delivery.release().await.unwrap();
            assert!(first(&near, &id).await.is_some());
        }
    }
}

#[tokio::test]
async fn a_delivery_is_handed_over_to_another_machine() {
    let server = RedisServer::start();
    let (web, worker) = (machine(&server.url()), machine(&server.url()));
    let queued = first(&web, &id("1")).await.unwrap().hand_over().to_string();
    assert!(first(&web, &id("1")).await.is_none());
    let delivery = worker.take_over(queued.parse().unwrap());
    assert_eq!(delivery.renew().await.unwrap(), Hold::Ours);
    delivery.release().await.unwrap();
    assert!(first(&web, &id("1")).await.is_some(), "a daily cap refused, and tomorrow it is processed");
}
