//! The Redis twin of the window math: scripts, the layout of keys, and what goes to a server and comes back.
//!
//! A store on Redis sends a [`Call`] and reads a [`Reply`]; this crate makes the one and understands the other, and opens no
//! connection itself. The script tests and writes where the counts live, and replies with the states it *found* and its verdict;
//! the core then decides on the same states, so what a store answers is the core's decision, and every call compares the two.
//!
//! ```
//! use tollgate_core::{Limit, Timestamp, Window};
//! use tollgate_script::{Dialect, Prefix, Reply, Script, take_answer, take_call};
//! use tollgate_store::{Charge, Key, KeyParts, Name, Take};
//!
//! let parts = ("docs", "203.0.113.7").into_parts();
//! let charge = Charge::new(Key::new(Name::new("ask"), &parts), Limit::fixed(15, Window::DAY));
//! let take = Take { charges: &[charge], now: Timestamp::from_unix_ms(1_764_547_200_000) };
//!
//! let call = take_call(&Prefix::default(), &take, None)?;
//! assert_eq!(&call.keys[0], "limit:ask:docs:203.0.113.7:20423");
//! assert_eq!(Script::Take.sha1(Dialect::Redis).len(), 40);
//!
//! // What the server answers: everything fits, and nobody had charged the key before.
//! let decisions = take_answer(&take, &Reply::Text("3 - 0 0".into()))?;
//! assert_eq!(decisions[0].remaining(), 14);
//! # Ok::<(), tollgate_store::StoreError>(())
//! ```
//!
//! # Layout
//!
//! | count | key | value |
//! |---|---|---|
//! | a fixed or sliding window | `<prefix>:<key>:<window number>` | the count, a string |
//! | a token bucket | `<prefix>:<key>` | a hash: `refilledAt` in Unix ms, `tokens`, below 0 for a debt |
//! | a claim | `<prefix>:%:claim:<key>`, or a literal key as it is | `p:<token>:<until>` while somebody works, `d:…` once it is done |
//! | what is remembered of a take or a settlement | `<prefix>:%:take:…`, `<prefix>:%:settle:…` | no key of a count begins with `<prefix>:%` |
//!
//! The window number is the time in Unix milliseconds divided by the window's length, rounded down. It is the layout of Upstash's own
//! limiter: a service that uses that and one that uses Tollgate, given one prefix, identifier and limit, spend from one count. So a
//! policy whose algorithm or window changes starts from nothing, and one that turns from windows into a bucket or back should get
//! another name.
//!
//! Every key has a lifetime, from [`Limit::idle_at`](tollgate_core::Limit::idle_at) and a second; every write gives one to a key that
//! lost its own. It counts from the time that decided, so it holds by the caller's clock whatever the server's says. A claim ends at the
//! instant that it names, by the caller's clock too; its key goes a second later.
//!
//! # What a script promises
//!
//! - It reads and checks every key before it writes the first: a value of another type, or a number out of range, leaves nothing half
//!   done.
//! - It touches no key but those it is given.
//! - Its numbers are exact: whole, up to 2^53 − 1, compared by subtraction, with products beyond that divided digit by digit.
//! - Machines' clocks may differ by up to a window: where the next window has been counted in, its start decides.
//!
//! # How to call
//!
//! Send `EVALSHA` with [`Script::sha1`]. Where the server answers with an error, ask [`server_error`]: for
//! [`ServerAnswer::NoScript`] send `EVAL` with [`Script::text`], which the server then knows. All keys of a call are declared, so
//! nothing is ever scanned.
//!
//! A settlement, a forgetting and all about claims may be sent again at any time. A take that may be sent again needs a [`Replay`], which costs the
//! server about half as much again.
//!
//! Takes that are ready together can be made by one call, [`take_many_call`], for about half of the price of as many, the replay
//! included.
//!
//! # What other limiters write
//!
//! | found | read as |
//! |---|---|
//! | a counter below 0: more was given back than spent | 0 |
//! | a counter above the quota: refused requests were counted | what it says |
//! | a fraction of a token | rounded down |
//! | a hash with one of the two fields, with others instead, or with `refilled_at`, which Upstash's limiter for Python writes | an error, and nothing is written |

mod call;
mod claims;
mod dialect;
mod forget;
mod many;
mod number;
mod prefix;
mod replay;
mod reply;
mod script;
mod server_error;
mod settle;
mod take;
mod words;

pub use call::Call;
pub use claims::{
    claim_answer, claim_call, confirm_call, hold_answer, release_answer, release_call, renew_call,
};
pub use dialect::Dialect;
pub use forget::{forget_answer, forget_call};
pub use many::{remembered_take_call, take_many_answers, take_many_call};
pub use prefix::{Prefix, PrefixError};
pub use replay::Replay;
pub use reply::Reply;
pub use script::Script;
pub use server_error::{ServerAnswer, server_error};
pub use settle::{settle_answer, settle_call};
pub use take::{take_answer, take_call};
pub use words::Words;
