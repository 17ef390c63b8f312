//! What the client crate read, in the form the scripts' answers are read from.

use redis::Value;
use tollgate_script::{Reply, ServerAnswer, server_error};
use tollgate_store::{StoreError, StoreErrorKind};

/// The answer to a script's call: its reply, or what the server's error means.
pub(crate) fn answer(value: Value) -> Result<Reply, ServerAnswer> {
    match value {
        Value::ServerError(error) => {
            Err(server_error(&format!("{} {}", error.code(), error.details().unwrap_or_default())))
        }
        value => reply(value).map_err(ServerAnswer::Error),
    }
}

fn reply(value: Value) -> Result<Reply, StoreError> {
    Ok(match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::BulkString(bytes) => Reply::Text(String::from_utf8(bytes).map_err(|_| odd())?),
        Value::SimpleString(text) => Reply::Text(text),
        Value::Okay => Reply::Text("OK".into()),
        Value::Array(values) => Reply::Array(values.into_iter().map(reply).collect::<Result<_, _>>()?),
        _ => return Err(odd()),
    })
}

#[cold]
fn odd() -> StoreError {
    StoreError::new(StoreErrorKind::Garbage, "the answer is of a type that no script here gives")
}
