//! Pushes that arrive at several processes: fifteen updates a day for an organization, wherever they arrive.

use std::process::Stdio;

use tollgate_testbed::RedisServer;

use crate::{
    behind_the_gateway,
    server::{SECRET, Server, Worker, program, until},
};

const UPDATED: &str = "pages updated";
const RELEASED: &str = "released, to be delivered again";

fn forty_pushes_are_fifteen_updates(variables: &[(&str, &str)]) {
    let with = || {
        let mut program = program();
        program.envs(variables.iter().copied()).env("GITHUB_WEBHOOK_SECRET", SECRET);
        program
    };
    let servers = [(); 2].map(|()| Server::spawn(with().stderr(Stdio::null())));
    // Some wait before there is anybody to work.
    let mut worker = None;
    for n in 0..40 {
        assert_eq!(servers[n % 2].deliver(&format!("push-{n}")), (202, "queued".to_owned()));
        if n == 9 {
            worker = Some(Worker::spawn(&mut with()));
        }
    }
    let worker = worker.unwrap();
    let (updated, released) = (|| worker.ids(UPDATED), || worker.ids(RELEASED));
    until("40 pushes are worked off", || updated().len() + released().len() >= 40);
    assert_eq!((updated().len(), released().len()), (15, 25));

    // What is done is so everywhere; what is left for tomorrow can be delivered again, and is today's too much again.
    for (n, id) in updated().iter().enumerate() {
        assert_eq!(servers[n % 2].deliver(id), (200, "duplicate".to_owned()));
    }
    assert_eq!(servers[0].deliver(&released()[0]), (202, "queued".to_owned()));
    until("it is worked off", || released().len() == 26);
    assert_eq!(updated().len(), 15);
}

#[test]
fn forty_pushes_are_fifteen_updates_on_redis() {
    let redis = RedisServer::start();
    forty_pushes_are_fifteen_updates(&[("REDIS_URL", &redis.url())]);
}

#[test]
fn forty_pushes_are_fifteen_updates_behind_the_gateway() {
    let redis = RedisServer::start();
    behind_the_gateway(&redis, forty_pushes_are_fifteen_updates);
}
