//! Servers that are away, mute, or say no; each within the deadline, each with an error of its own kind.

use std::{net::TcpListener, time::Duration};

use futures_util::future::join_all;
use tokio::time::Instant;
use tollgate_core::{Limit, Timestamp, Window};
use tollgate_redis::{Prefix, RedisStore};
use tollgate_store::{
    Charge, Correction, Decisions, Forget, Key, KeyParts as _, Name, Settle, SettleId, Store as _,
    StoreError, StoreErrorKind, Take, Target,
};
use tollgate_suite::{Setting, differential};
use tollgate_testbed::{Canned, Guarded, Proxy, RedisServer, Served, survive_restarts};

use crate::served::{served, served_with};

const LIMIT: Limit = Limit::fixed(100, Window::DAY);
const NOW: Timestamp = Timestamp::from_unix_ms(1_796_040_000_000);
/// Short, so that no test waits long; what is measured has to end well within this and a little.
const DEADLINE: Duration = Duration::from_millis(400);
/// What a loaded machine may add to a wait.
const MARGIN: Duration = Duration::from_millis(600);

fn store(url: &str) -> RedisStore {
    RedisStore::builder(url).deadline(DEADLINE).build().expect("this is a URL")
}

async fn take(store: &RedisStore, visitor: &str) -> Result<Decisions, StoreError> {
    let parts = visitor.into_parts();
    let charge = Charge::new(Key::new(Name::new("ask"), &parts), LIMIT);
    store.take(Take { charges: &[charge], now: NOW }).await
}

async fn left(store: &RedisStore, visitor: &str) -> i64 {
    take(store, visitor).await.expect("it counts")[0].left()
}

/// What fails, how, and that it did not take longer than it may.
async fn fails(store: &RedisStore) -> StoreError {
    let start = Instant::now();
    let error = take(store, "203.0.113.7").await.expect_err("it cannot count");
    let took = start.elapsed();
    assert!(took < DEADLINE + MARGIN, "{error} after {took:?}");
    let told = format!("{error} {error:?}");
    assert!(!told.contains("203.0.113.7") && !told.contains("hunter2"), "{told}");
    error
}

#[tokio::test]
async fn a_server_that_forgets_its_scripts_is_told_them_again() {
    let served = served();
    for at in (0..100).rev() {
        if at % 10 == 0 {
            served.redis.run(&["SCRIPT", "FLUSH"]);
        }
        assert_eq!(left(&served.store, "flushed").await, at);
    }
    served.redis.run(&["SCRIPT", "FLUSH"]);
    let takes: Vec<_> = (0..50).map(|_| take(&served.store, "at once")).collect();
    for taken in join_all(takes).await {
        assert!(taken.expect("it counts").is_admitted());
    }
    assert_eq!(left(&served.store, "at once").await, 49);
    served.redis.run(&["SCRIPT", "FLUSH"]);
    let parts = "at once".into_parts();
    let target = Target { key: Key::new(Name::new("ask"), &parts), limit: LIMIT };
    served.store.forget(Forget { targets: &[target], now: NOW }).await.expect("it forgets");
    assert_eq!(left(&served.store, "at once").await, 99);
}

#[tokio::test]
async fn a_thousand_takes_at_once_admit_the_quota() {
    let served = served();
    // Time enough for a thousand of them on a busy machine.
    let patient = |_| RedisStore::builder(&served.redis.url()).deadline(Duration::from_secs(20)).build();
    let others: Vec<_> = (0..4).map(|at| patient(at).expect("this is a URL")).collect();
    let takes = (0..1_000).map(|at| take(&others[at % others.len()], "one"));
    let admitted =
        join_all(takes).await.into_iter().filter(|taken| taken.as_ref().expect("it counts").is_admitted());
    assert_eq!(admitted.count(), 100);
}

#[tokio::test]
async fn stores_on_one_url_share_one_connection() {
    let served = served();
    let proxy = Proxy::start(served.redis.address());
    let url = format!("redis://{}", proxy.address());
    let store = store(&url);
    let more: Vec<_> = (0..20)
        .map(|at| match at % 2 {
            0 => store.clone(),
            _ => RedisStore::builder(&url)
                .deadline(DEADLINE)
                .resends(at)
                .prefix(Prefix::try_new(&format!("limit-{at}")).expect("a prefix"))
                .build()
                .expect("this is a URL"),
        })
        .collect();
    join_all(more.iter().map(|store| take(store, "one"))).await;
    join_all(more.iter().map(|store| take(store, "two"))).await;
    assert_eq!(proxy.connections(), 1);
    // As long as one of them is there, and no longer.
    drop(store);
    assert!(take(&more[1], "three").await.is_ok());
    assert_eq!(proxy.connections(), 1);
    drop(more);
    assert!(take(&self::store(&url), "four").await.is_ok());
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_unreachable_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let store = store(&format!("redis://user:hunter2@{address}"));
    let start = Instant::now();
    for _ in 0..20 {
        assert_eq!(fails(&store).await.kind(), StoreErrorKind::Unreachable);
    }
    assert!(start.elapsed() < DEADLINE + MARGIN, "twenty take no longer than one may");
}

#[tokio::test]
async fn a_mute_server_is_given_up_at_the_deadline() {
    let served = served_with(|builder| builder.deadline(DEADLINE));
    assert_eq!(left(&served.store, "one").await, 99);
    served.redis.pause();
    let start = Instant::now();
    let errors = join_all((0..50).map(|_| fails(&served.store))).await;
    assert!(errors.iter().all(|error| error.kind() == StoreErrorKind::Timeout));
    // The connection is not trusted any more, and a new one does not help.
    assert_eq!(fails(&served.store).await.kind(), StoreErrorKind::Timeout);
    assert!(start.elapsed() >= 2 * DEADLINE, "it was given all the time it has");
    served.redis.resume();
    // What was sent meanwhile may be counted now, and everything goes on.
    assert!(left(&served.store, "one").await <= 98);
    assert_eq!(left(&served.store, "two").await, 99);
}

#[tokio::test]
async fn a_server_that_accepts_and_never_answers_is_given_up_at_the_deadline() {
    let mute = Canned::answering(b"");
    for login in ["", "user:hunter2@"] {
        let store = store(&format!("redis://{login}{}", mute.address()));
        for _ in 0..2 {
            assert_eq!(fails(&store).await.kind(), StoreErrorKind::Timeout);
        }
    }
}

#[tokio::test]
async fn a_server_that_is_killed_is_back_with_its_restart() {
    let mut served = served_with(|builder| builder.deadline(DEADLINE));
    assert_eq!(left(&served.store, "one").await, 99);
    served.redis.kill();
    for _ in 0..5 {
        assert_eq!(fails(&served.store).await.kind(), StoreErrorKind::Unreachable);
    }
    served.redis.restart();
    let start = Instant::now();
    while take(&served.store, "one").await.is_err() {
        assert!(start.elapsed() < Duration::from_millis(500), "it stays away");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_a_kill_and_a_restart_cost_outage_decisions_and_nothing_else() {
    for resends in [0, 2] {
        let Served { store, mut redis, .. } =
            served_with(|builder| builder.deadline(Duration::from_secs(1)).resends(resends));
        survive_restarts(store, &mut redis, Duration::from_secs(1), &[]).await;
    }
}

#[tokio::test]
async fn a_connection_that_is_closed_while_idle_costs_nobody_an_error() {
    let served = served_with(|builder| builder.deadline(DEADLINE));
    for at in (0..20).rev() {
        assert_eq!(left(&served.store, "idle").await, 80 + at);
        served.redis.run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        // Until the news is here: what tells it runs on this task's thread.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_lost_answer_is_an_error_unless_it_may_be_asked_for_again() {
    let served = served();
    let proxy = Proxy::start(served.redis.address());
    let url = format!("redis://{}", proxy.address());
    let once = store(&url);
    assert_eq!(left(&once, "once").await, 99);
    proxy.lose(1);
    assert_eq!(
        take(&once, "once").await.expect_err("the answer is lost").kind(),
        StoreErrorKind::Unreachable
    );
    assert_eq!(left(&once, "once").await, 97, "it was counted all the same");

    let again = RedisStore::builder(&url).resends(2).build().expect("this is a URL");
    assert_eq!(left(&again, "again").await, 99);
    for lost in [1, 2] {
        proxy.lose(lost);
        assert_eq!(left(&again, "again").await, 99 - i64::from(lost), "counted once");
    }
    proxy.lose(3);
    assert_eq!(take(&again, "again").await.expect_err("too often").kind(), StoreErrorKind::Unreachable);
    assert_eq!(left(&again, "again").await, 95, "counted once even so");
}

#[tokio::test]
async fn settling_and_forgetting_survive_a_lost_answer() {
    let served = served();
    let proxy = Proxy::start(served.redis.address());
    let store = store(&format!("redis://{}", proxy.address()));
    let parts = "one".into_parts();
    let key = Key::new(Name::new("ask"), &parts);
    let taken = take(&store, "one").await.expect("it counts");
    let correction = Correction { key, limit: LIMIT, stamp: taken[0].stamp(), delta: 9 };
    proxy.lose(1);
    let settle = Settle { id: SettleId::new(1), corrections: &[correction], now: NOW };
    store.settle(settle).await.expect("sent again");
    assert_eq!(left(&store, "one").await, 89, "settled once");
    proxy.lose(1);
    store.forget(Forget { targets: &[Target { key, limit: LIMIT }], now: NOW }).await.expect("sent again");
    assert_eq!(left(&store, "one").await, 99);
}

/// A server that says this, and the kind of error that comes of it.
fn canned() -> Vec<(&'static str, Canned, StoreErrorKind)> {
    use StoreErrorKind::{Busy, Disagree, Garbage, Reject, Timeout, Unreachable};
    let says = |name, answer: &'static [u8], kind| (name, Canned::answering(answer), kind);
    let closes = |name, answer: &'static [u8]| (name, Canned::closing_after(answer), Unreachable);
    let resets = |name, answer: &'static [u8]| (name, Canned::resetting_after(answer), Unreachable);
    vec![
        // The connection.
        says("mute", b"", Timeout),
        says("half an answer", b"$100\r\n1 - 0 0", Timeout),
        closes("closed unanswered", b""),
        closes("closed in mid-answer", b"$100\r\n1 - 0 0"),
        resets("reset unanswered", b""),
        resets("reset in mid-answer", b"$100\r\n1 - 0 0"),
        // Another protocol.
        says("500", b"HTTP/1.1 500 Internal Server Error\r\n\r\n", Garbage),
        says("502 with HTML", b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>", Garbage),
        says("TLS", b"\x15\x03\x01\x00\x02\x02", Garbage),
        says("JSON that is cut off", b"{\"result\":", Garbage),
        // No answer of a script.
        says("OK", b"+OK\r\n", Garbage),
        says("a number", b":1\r\n", Garbage),
        says("nothing", b"$-1\r\n", Garbage),
        says("an array", b"*2\r\n:1\r\n$1\r\na\r\n", Garbage),
        says("no text", b"$3\r\n\xFF\xFE\xFD\r\n", Garbage),
        says("another state", b"$9\r\n1 - 0 0 x\r\n", Garbage),
        says("another verdict", b"$7\r\n1 - 0 0\r\n", Disagree),
        // The server's own words.
        says("READONLY", b"-READONLY You can't write against a read only replica.\r\n", Busy),
        says("LOADING", b"-LOADING Redis is loading the dataset in memory\r\n", Busy),
        says("MASTERDOWN", b"-MASTERDOWN Link with MASTER is down\r\n", Busy),
        says("OOM", b"-OOM command not allowed when used memory > 'maxmemory'.\r\n", Busy),
        says("MISCONF", b"-MISCONF Redis is configured to save RDB snapshots\r\n", Busy),
        says("connections", b"-ERR max number of clients reached\r\n", Busy),
        says("NOSCRIPT, always", b"-NOSCRIPT No matching script.\r\n", Busy),
        says("NOPERM", b"-NOPERM this user has no permissions to run the 'evalsha' command\r\n", Reject),
        says("WRONGTYPE", b"-WRONGTYPE Operation against a key\r\n", Reject),
        says("a quota of the service", b"-ERR max daily request limit exceeded. Limit: 10000\r\n", Reject),
        says("anything else", b"-ERR something of ours\r\n", Reject),
    ]
}

#[tokio::test]
async fn each_fault_has_its_error_and_its_outcomes_within_the_deadline() {
    for (name, canned, kind) in canned() {
        let store = store(&format!("redis://{}", canned.address()));
        let error = fails(&store).await;
        assert_eq!(error.kind(), kind, "{name}: {error:?}");
        Guarded::new(store, DEADLINE).demand_outage(kind, name).await;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let refused = Guarded::new(store(&format!("redis://{address}")), DEADLINE);
    refused.demand_outage(StoreErrorKind::Unreachable, "refused").await;
}

#[tokio::test]
async fn a_server_that_says_no_is_an_error_of_its_own_kind() {
    let server = RedisServer::start();
    let store = store(&server.url());
    let mut before = left(&store, "no").await;
    for (cause, cure, kind, says) in [
        (
            &["CONFIG", "SET", "maxmemory", "1"][..],
            &["CONFIG", "SET", "maxmemory", "0"][..],
            StoreErrorKind::Busy,
            "OOM",
        ),
        (&["REPLICAOF", "127.0.0.1", "1"], &["REPLICAOF", "NO", "ONE"], StoreErrorKind::Busy, "READONLY"),
        (
            &["ACL", "SETUSER", "default", "-eval", "-evalsha"],
            &["ACL", "SETUSER", "default", "+@all"],
            StoreErrorKind::Reject,
            "read-only token",
        ),
        (
            &["ACL", "SETUSER", "default", "-set", "-incrby"],
            &["ACL", "SETUSER", "default", "+@all"],
            StoreErrorKind::Reject,
            "NOPERM",
        ),
    ] {
        server.run(cause);
        let error = take(&store, "no").await.expect_err("it cannot count");
        Guarded::new(store.clone(), DEADLINE).demand_outage(kind, says).await;
        server.run(cure);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(left(&store, "no").await, before - 1, "after {cause:?} it counts on as before");
        before -= 1;
    }
    server.run(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
    server.run(&["REPLICAOF", "127.0.0.1", "1"]);
    let error = take(&store, "no").await.expect_err("it cannot count");
    assert!(error.to_string().contains("MASTERDOWN"), "{error}");
    server.run(&["REPLICAOF", "NO", "ONE"]);
    assert_eq!(left(&store, "no").await, before - 1);
}

#[tokio::test]
async fn a_server_that_became_a_replica_is_left_by_the_next_call() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.address());
    let store = store(&format!("redis://{}", proxy.address()));
    assert_eq!(left(&store, "one").await, 99);
    server.run(&["REPLICAOF", "127.0.0.1", "1"]);
    for _ in 0..2 {
        assert_eq!(fails(&store).await.kind(), StoreErrorKind::Busy);
    }
    server.run(&["REPLICAOF", "NO", "ONE"]);
    assert_eq!(left(&store, "one").await, 98);
    assert_eq!(proxy.connections(), 3, "each refusal cost its connection");
}

#[tokio::test]
async fn users_and_passwords_open_the_door_or_say_so() {
    let server = RedisServer::start();
    // What the crate's front page says is enough.
    let may = "~limit:* +evalsha +eval +get +set +exists +incrby +pttl +pexpire +hmget +hset +del";
    let user = ["ACL", "SETUSER", "counter", "on", ">hunter2 @:/#"];
    server.run(&user.into_iter().chain(may.split(' ')).collect::<Vec<_>>());
    server.run(&["ACL", "SETUSER", "default", "resetpass", ">other"]);
    let at = server.address();
    let good = store(&format!("redis://counter:hunter2%20%40%3A%2F%23@{at}/0"));
    assert_eq!(left(&good, "one").await, 99);
    differential(&good, &Setting::default(), 7, 300).await.expect("it may do all that the store does");
    for (login, says) in [("", "NOAUTH"), ("counter:hunter2@", "WRONGPASS"), ("nobody:hunter2@", "WRONGPASS")]
    {
        let error = fails(&store(&format!("redis://{login}{at}"))).await;
        assert_eq!(error.kind(), StoreErrorKind::Reject, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    // Outside of what this user may touch.
    let other = RedisStore::builder(&format!("redis://counter:hunter2%20%40%3A%2F%23@{at}"))
        .prefix(Prefix::try_new("other").expect("a prefix"))
        .build()
        .expect("this is a URL");
    assert_eq!(take(&other, "one").await.expect_err("not allowed").kind(), StoreErrorKind::Reject);
}

#[test]
fn an_attempt_to_connect_that_ends_with_its_runtime_is_begun_again() {
    // It never answers the login, so each runtime ends in the middle of it.
    let mute = Canned::answering(b"");
    let store = store(&format!("redis://user:hunter2@{}", mute.address()));
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        assert_eq!(runtime.block_on(fails(&store)).kind(), StoreErrorKind::Timeout);
    }
}

#[test]
fn a_store_outlives_the_runtime_it_was_first_used_on() {
    let served = served();
    for at in (90..100).rev() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        assert_eq!(runtime.block_on(left(&served.store, "one")), at);
    }
}

/// Not even one that was handed over while it ended.
#[test]
fn no_call_waits_for_a_connection_that_has_ended_with_its_runtime() {
    let served = served();
    let runtime = |threads| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
        runtime.expect("a runtime")
    };
    let calls = runtime(2);
    for round in 0..ENDS {
        let builder = RedisStore::builder(&served.redis.url());
        let store = builder.deadline(Duration::from_secs(30)).build().expect("this is a URL");
        let first = runtime(1);
        assert_eq!(first.block_on(left(&store, "first")) + 1, 100 - round);
        let callers: Vec<_> = (0..32)
            .map(|_| {
                let store = store.clone();
                calls.spawn(async move {
                    let mut ends = Vec::new();
                    for _ in 0..10 {
                        ends.extend(take(&store, "others").await.err().map(|error| error.kind()));
                    }
                    ends
                })
            })
            .collect();
        drop(first);
        for caller in calls.block_on(join_all(callers)) {
            let ends = caller.expect("it does not panic");
            assert!(!ends.contains(&StoreErrorKind::Timeout), "{ends:?}");
        }
    }
}

/// How many connections end: it is seldom that one ends just when a call is handed to it.
const ENDS: i64 = 50;

/// As of a thread that has a runtime of its own and nothing to do any more.
#[test]
fn an_attempt_to_connect_on_a_runtime_that_stands_still_is_begun_again() {
    let served = served();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let still = runtime();
    let mut first = Box::pin(left(&served.store, "one"));
    still.block_on(async { assert!(futures_util::poll!(&mut first).is_pending()) });
    let answer = runtime().block_on(async {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(6)).await;
        tokio::time::resume();
        left(&served.store, "one").await
    });
    assert_eq!(answer, 99);
}
