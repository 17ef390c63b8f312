//! Limiters that count together, through the front door, on a real Redis.
#![cfg(all(feature = "upstash", feature = "redis"))]
#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

use futures_util::future::join_all;
use tollgate::{Limiter, LimiterOptions, OnOutage, Window, limiter};
use tollgate_testbed::{RedisServer, RestApi, TOKEN};

/// Ten limiters of other names, each made from this environment by itself.
fn ten(env: &[(&str, String)]) -> Vec<Limiter> {
    let lookup = |name: &str| env.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone());
    // Their clock is the real one: of this length no window ends meanwhile.
    let options = |at: u32| LimiterOptions::new(format!("limit-{at}"), 30, Window::MAX, OnOutage::Deny);
    (0..10).map(|at| limiter(options(at), lookup).unwrap()).collect()
}

fn upstash(gateway: &RestApi) -> [(&'static str, String); 2] {
    [("UPSTASH_REDIS_REST_URL", gateway.url()), ("UPSTASH_REDIS_REST_TOKEN", TOKEN.to_owned())]
}

/// One after the other, and all at once.
async fn use_all(limiters: &[Limiter]) {
    for limiter in limiters {
        assert!(limiter.limit("203.0.113.7").await.success);
    }
    for answer in join_all(limiters.iter().map(|limiter| limiter.limit("203.0.113.7"))).await {
        assert_eq!((answer.success, answer.remaining), (true, 28));
    }
}

#[tokio::test]
async fn ten_limiters_on_one_url_of_upstash_use_one_client() {
    let redis = RedisServer::start();
    let gateway = RestApi::start(&redis);
    use_all(&ten(&upstash(&gateway))).await;
    assert_eq!(gateway.connections_accepted(), 1);
}

#[tokio::test]
async fn ten_limiters_on_one_url_of_redis_use_one_connection() {
    let redis = RedisServer::start();
    let before = connections(&redis);
    use_all(&ten(&[("REDIS_URL", redis.url())])).await;
    assert_eq!(connections(&redis) - before, 1 + 1, "one, and the one that asks");
}

/// How many connections the server has had so far, that of this question included.
fn connections(redis: &RedisServer) -> u64 {
    let info = format!("{:?}", redis.run(&["INFO", "stats"]));
    let (_, rest) = info.split_once("total_connections_received:").unwrap();
    rest.chars().map_while(|digit| digit.to_digit(10)).fold(0, |sum, digit| sum * 10 + u64::from(digit))
}

#[tokio::test]
async fn both_doors_lead_to_one_count() {
    let redis = RedisServer::start();
    let gateway = RestApi::start(&redis);
    let (over_rest, natively) = (ten(&upstash(&gateway)), ten(&[("REDIS_URL", redis.url())]));
    for (at, (one, other)) in over_rest.iter().zip(&natively).enumerate() {
        for left in [29, 27] {
            assert_eq!(one.limit("203.0.113.7").await.remaining, left, "limiter {at}");
            assert_eq!(other.limit("203.0.113.7").await.remaining, left - 1, "limiter {at}");
        }
    }
}
