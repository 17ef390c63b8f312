//! The Upstash REST API in front of any Redis or Valkey: for local development, CI and self-hosting.
//!
//! Official clients run against it unmodified. In particular scripts that ask for Upstash's key locking run on
//! stock Redis, under their own SHA-1, as the official rate limiter needs.
//!
//! ```sh
//! tollgate-gateway --redis redis://127.0.0.1:6379 --listen 127.0.0.1:8079 --token a-token
//! export UPSTASH_REDIS_REST_URL=http://127.0.0.1:8079 UPSTASH_REDIS_REST_TOKEN=a-token
//! curl -H 'Authorization: Bearer a-token' -d '["INCR", "hits"]' http://127.0.0.1:8079     # {"result":1}
//! ```
//!
//! Other programs, tests above all, run a [`Gateway`] in their own process.
//!
//! | request | what it does |
//! |---|---|
//! | `POST /` | runs one command: `["SET", "key", "value"]` |
//! | `POST /pipeline` | runs several, each with its own result or error; others may run in between |
//! | `POST /multi-exec` | runs several in a transaction, all or none |
//! | `GET /GET/key`, `POST /SET/key?EX=100` | runs one command out of the path, the body and the query |
//! | `GET /` | is answered without a token and without asking Redis: the gateway is alive |
//!
//! - **Who may.** `Authorization: Bearer <token>`, or `?_token=`. A read-only token reads keys that it can name.
//!   Without TLS tokens travel in the clear: other machines belong behind a proxy that speaks it.
//! - **Values.** Numbers keep every digit in both directions. With `Upstash-Encoding: base64` strings are encoded,
//!   in arrays too. A body of any content type is read as JSON.
//! - **Errors** are JSON: 400 for a command that failed, 401 for a token, 405 for a method, 413 for a body over
//!   10 MB, 502 to 504 for a Redis that is out of order, gone or mute. In a pipeline a command's error is its own.
//!   What is no text in an error of Redis becomes U+FFFD. What is no HTTP, or has more than 100 header fields or too long a
//!   path, gets a status of 4xx without a body.
//! - **Bounds.** 900 connections, more wait; ten seconds for the first head of each; 65,536 commands and 1,048,576 words in a
//!   request; 10 MB in a body; 128 MB for the bodies of all requests and their words, 80 bytes each, beyond which there is a 503.
//!   Not bounded is what comes back: a reply is held as a whole, and so is the JSON made of it, which is as long or, in base64,
//!   a third longer. Sixty replies of 5 MB at once take some 600 MB.
//! - **Refused by name**: commands that change a connection's state, block, or administer the server, because all
//!   clients share one connection. Subscriptions and the response format `resp2` are not served. What a script may call is
//!   for Redis to say, and it lets some of them through, `SWAPDB` for one: the full token is for those who may do anything
//!   to the data. A script that runs long holds up everybody, as it does at Redis.
//! - **Redis** is named by a URL with its user and database; `rediss://` asks for TLS, the default feature `tls`. It is
//!   found again when it was gone.

mod address;
mod answer;
mod backend;
mod body;
mod catalogue;
mod config;
mod gateway;
mod head;
mod live;
mod lossy;
mod outage;
mod parse;
mod reply;
mod scripts;
mod server;
mod service;
mod shebang;
#[cfg(feature = "tls")]
mod tls;
mod token;

pub use crate::{
    config::{Command, Config, ConfigError, HELP},
    gateway::{Gateway, GatewayBuilder, StartError},
};
