//! Takes of several callers that go as one command.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::future::{join_all, try_join_all};
use serde_json::{Value, json};
use tollgate_script::{Dialect, Script};
use tollgate_store::StoreErrorKind;
use tollgate_suite::{Setting, differential};
use tollgate_testbed::Proxy;
use tollgate_upstash::{Credentials, UpstashStore};

use crate::support::{Act, Fate, Received, Scripted, Server, TOKEN, served, take, untouched};

fn parts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("visitor {number}")).collect()
}

fn is_many(command: &Value) -> bool {
    command[1] == Script::TakeMany.sha1(Dialect::Upstash)
}

/// Histories that run side by side share commands, and each is answered as if it ran alone.
#[tokio::test]
async fn a_crowd_of_histories_is_answered_as_the_core_does() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let served = served(|builder| builder);
    let setting = Setting::default();
    let histories = (0..48).map(|number| differential(&served, &setting, seed.wrapping_add(number), 100));
    try_join_all(histories).await.unwrap();
}

/// The same while answers are lost: whatever was sent again was counted once.
#[tokio::test]
async fn a_crowd_that_loses_answers_is_answered_as_the_core_does() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let served = served(|builder| builder);
    let proxy = Proxy::start(served.gateway.address());
    let credentials = Credentials::new(&format!("http://{}", proxy.address()), TOKEN).unwrap();
    let store = UpstashStore::builder(credentials).deadline(Duration::from_secs(30)).build().unwrap();
    let setting = Setting::default();
    for round in 0..8 {
        proxy.lose(2);
        let seeds = (0..24).map(|number| seed.wrapping_add(round * 24 + number));
        let histories = seeds.map(|seed| differential(&store, &setting, seed, 12));
        try_join_all(histories).await.unwrap();
        assert_eq!(proxy.left_to_lose(), 0, "both answers were lost");
    }
}

#[tokio::test]
async fn a_command_makes_so_many_takes_at_most() {
    let server = Server::start(|received| received.each(untouched)).await;
    let store = server.builder().build().unwrap();
    let parts = parts(200);
    for answer in join_all(parts.iter().map(|part| take(&store, part))).await {
        assert_eq!(answer.unwrap()[0].remaining(), 14);
    }
    let seen = server.seen();
    let takes: Vec<u64> =
        seen[0].commands().iter().map(|command| (command[2].as_u64().unwrap() - 1) / 3).collect();
    assert_eq!((seen.len(), takes), (1, vec![64, 64, 64, 8]));
}

/// What a key holds that belongs to something else, or that an ended window left behind, is the error of whoever asked for it.
#[tokio::test]
async fn an_error_is_that_of_one_take() {
    let served = served(|builder| builder);
    served.redis.run(&["SADD", "limit:ask:visitor 3:20423", "x"]);
    let parts = parts(50);
    for round in 0..2 {
        let answers = join_all(parts.iter().map(|part| take(&served, part))).await;
        for (number, answer) in answers.into_iter().enumerate() {
            let answer = answer.map(|decisions| decisions[0].remaining()).map_err(|error| error.kind());
            let expected = if number == 3 { Err(StoreErrorKind::Reject) } else { Ok(14 - round) };
            assert_eq!(answer, expected, "visitor {number}");
        }
    }
}

/// A server that refuses commands of several takes, and notes how many of which kind it was sent.
async fn refusing(
    refuse: impl Fn(&Received) -> bool + Send + Sync + 'static,
) -> (Server, Arc<Mutex<[usize; 2]>>) {
    let seen = Arc::new(Mutex::new([0, 0]));
    let noted = Arc::clone(&seen);
    let server = Server::start(move |received| {
        let refuses = refuse(received);
        received.each(|command| {
            noted.lock().unwrap()[usize::from(is_many(command))] += 1;
            let error =
                json!({ "error": "ERR max key size exceeded. Limit: 32768 bytes, Actual: 40000 bytes" });
            if is_many(command) && refuses { error } else { untouched(command) }
        })
    })
    .await;
    (server, seen)
}

/// One caller's key may be what the service does not like. The others are not to fail for that.
#[tokio::test(start_paused = true)]
async fn takes_that_are_refused_together_go_apart() {
    let (server, seen) = refusing(|_| true).await;
    let store = server.builder().deadline(Duration::from_secs(30)).build().unwrap();
    let parts = parts(10);
    let mut counted = Vec::new();
    for _ in 0..2 {
        for answer in join_all(parts.iter().map(|part| take(&store, part))).await {
            assert_eq!(answer.unwrap()[0].remaining(), 14);
        }
        counted.push(*seen.lock().unwrap());
    }
    // Once it is known they are not even put together, for a second.
    assert_eq!(counted, [[10, 1], [20, 1]]);
    tokio::time::advance(Duration::from_secs(1)).await;
    for answer in join_all(parts.iter().map(|part| take(&store, part))).await {
        let _ = answer.unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), [30, 2]);
}

/// What concerns everybody is told to everybody at once, and nobody is sent again to hear it once more.
#[tokio::test]
async fn what_is_said_of_the_server_or_the_token_takes_nobody_apart() {
    for error in [
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "BUSY Redis is busy running a script.",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "NOAUTH Authentication required.",
        "ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.",
        "ERR DB capacity quota exceeded.",
    ] {
        let server = Server::start(move |received| received.each(|_| json!({ "error": error }))).await;
        let store = server.builder().build().unwrap();
        let parts = parts(10);
        for answer in join_all(parts.iter().map(|part| take(&store, part))).await {
            answer.unwrap_err();
        }
        assert_eq!(server.seen().len(), 1, "{error}");
    }
}

/// A command whose answer was lost may have been counted, so it is never taken apart: each of its takes would be counted again.
#[tokio::test]
async fn what_may_have_been_counted_is_not_taken_apart() {
    let requests = Mutex::new(0);
    let server = Server::start(move |received| {
        *requests.lock().unwrap() += 1;
        match *requests.lock().unwrap() {
            1 => Act::Break(Vec::new()),
            _ => received.each(|_| json!({ "error": "ERR max key size exceeded." })),
        }
    })
    .await;
    let store = server.builder().build().unwrap();
    let parts = parts(10);
    for answer in join_all(parts.iter().map(|part| take(&store, part))).await {
        assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Reject);
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].body, seen[1].body);
}

/// An answer that is not one to so many takes is nobody's.
#[tokio::test]
async fn an_answer_to_fewer_takes_is_garbage_for_all() {
    for result in [json!("Mw=="), json!(1), json!(null), json!(STANDARD.encode("3 - 0 0\n3 - 0 0"))] {
        let server =
            Server::start(move |received| received.each(|_| json!({ "result": result.clone() }))).await;
        let store = server.builder().build().unwrap();
        let parts = parts(3);
        for answer in join_all(parts.iter().map(|part| take(&store, part))).await {
            assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Garbage);
        }
        assert_eq!(server.seen().len(), 1);
    }
}

/// Whoever gives up while the command is under way, or before it is sent again, takes nothing away from the others.
#[tokio::test(start_paused = true)]
async fn who_gives_up_leaves_the_others_their_answers() {
    let transport = Scripted::new([(50, Fate::Break)]);
    let store: UpstashStore = transport.builder().build().unwrap();
    let parts = parts(10);
    let spawn = |part: String| {
        let store = store.clone();
        tokio::spawn(async move { take(&store, &part).await })
    };
    let calls: Vec<_> = parts.into_iter().map(spawn).collect();
    tokio::time::advance(Duration::from_millis(60)).await;
    for call in &calls[..5] {
        call.abort();
    }
    for call in calls.into_iter().skip(5) {
        assert_eq!(call.await.unwrap().unwrap()[0].remaining(), 14);
    }
    let bodies = transport.bodies();
    assert_eq!((bodies.len(), &bodies[0]), (2, &bodies[1]));
}
