//! Which server a script is written for.

/// Which server a script is written for.
///
/// Upstash runs scripts side by side if their first line promises that they touch no key but those declared; stock Redis
/// refuses a script with that line. The rest of the text is the same.
///
/// The enum is exhaustive on purpose: whoever keeps something for each dialect has to know of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Redis and Valkey, over their own protocol.
    Redis,
    /// Upstash, over REST. A gateway in front of a stock Redis has to drop the flag `allow-key-locking`.
    Upstash,
}
