//! A server to run the scripts on, and what its answers are in the crate's own form.

use std::cell::RefCell;

use redis::{Cmd, Connection, ConnectionLike as _, Value};
use tollgate_script::{Call, Dialect, Prefix, Replay, Reply, forget_answer, forget_call};
use tollgate_script::{server_error, settle_answer, settle_call, take_answer, take_call};
use tollgate_store::{Decisions, Forget, Settle, StoreError, Take};
use tollgate_testbed::RedisServer;

/// A server and one connection to it: a store as plain as can be.
pub(crate) struct Bench {
    connection: RefCell<Connection>,
    pub(crate) server: RedisServer,
    pub(crate) prefix: Prefix,
}

impl Bench {
    pub(crate) fn start() -> Self {
        let server = RedisServer::start();
        Self { connection: RefCell::new(server.connect()), server, prefix: Prefix::default() }
    }

    pub(crate) fn take(&self, take: &Take<'_>) -> Result<Decisions, StoreError> {
        take_answer(take, &self.call(&take_call(&self.prefix, take, None)?)?)
    }

    pub(crate) fn take_again(&self, take: &Take<'_>, replay: Replay) -> Result<Decisions, StoreError> {
        take_answer(take, &self.call(&take_call(&self.prefix, take, Some(replay))?)?)
    }

    pub(crate) fn settle(&self, settle: &Settle<'_>) -> Result<(), StoreError> {
        settle_answer(&self.call(&settle_call(&self.prefix, settle)?)?)
    }

    pub(crate) fn forget(&self, forget: &Forget<'_>) -> Result<(), StoreError> {
        forget_answer(&self.call(&forget_call(&self.prefix, forget)?)?)
    }

    /// Sends the text of the script each time: this is not about what a server remembers.
    pub(crate) fn call(&self, call: &Call) -> Result<Reply, StoreError> {
        let mut command = Cmd::new();
        command.arg("EVAL").arg(call.script.text(Dialect::Redis));
        command.arg(call.keys.len());
        for word in call.keys.iter().chain(call.args.iter()) {
            command.arg(word);
        }
        match self.connection.borrow_mut().req_command(&command).expect("the server answers") {
            Value::ServerError(error) => {
                let text = format!("{} {}", error.code(), error.details().unwrap_or_default());
                Err(server_error(&text).into_error())
            }
            Value::Int(number) => Ok(Reply::Int(number)),
            Value::BulkString(bytes) => Ok(Reply::Text(String::from_utf8(bytes).expect("this is text"))),
            other => panic!("no script answers {other:?}"),
        }
    }

    /// Runs a command.
    pub(crate) fn run(&self, words: &[&str]) -> Value {
        let mut command = Cmd::new();
        for word in words {
            command.arg(word);
        }
        let value = self.connection.borrow_mut().req_command(&command).expect("the server answers");
        value.extract_error().unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    pub(crate) fn text(&self, words: &[&str]) -> Option<String> {
        redis::from_redis_value(self.run(words)).expect("this is text or nothing")
    }

    pub(crate) fn number(&self, words: &[&str]) -> i64 {
        redis::from_redis_value(self.run(words)).expect("this is a number")
    }

    /// How long a key lives yet: −1 if for ever, −2 if there is none.
    pub(crate) fn lives(&self, key: &str) -> i64 {
        self.number(&["PTTL", key])
    }

    /// Everything that is stored: each key, its value as the server dumps it, and whether it has a lifetime.
    pub(crate) fn everything(&self) -> Vec<(String, Vec<u8>, bool)> {
        let mut keys: Vec<String> = redis::from_redis_value(self.run(&["KEYS", "*"])).expect("keys are text");
        keys.sort();
        keys.into_iter()
            .map(|key| {
                let dump = redis::from_redis_value(self.run(&["DUMP", &key])).expect("a dump is bytes");
                let expires = self.lives(&key) >= 0;
                (key, dump, expires)
            })
            .collect()
    }
}
