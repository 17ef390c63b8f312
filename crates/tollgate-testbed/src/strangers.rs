//! What somebody else may keep where a counter or a bucket would be.

/// Values of every type, and text: neither counters nor buckets.
const STRANGERS: [&[&str]; 7] = [
    &["LPUSH", "KEY", "1"],
    &["SADD", "KEY", "1"],
    &["ZADD", "KEY", "1", "one"],
    &["XADD", "KEY", "*", "field", "1"],
    &["HSET", "KEY", "field", "1"],
    &["SET", "KEY", "words"],
    &["SET", "KEY", "9007199254740992"],
];

/// What is no bucket, though it is a hash.
const ODD_BUCKETS: [&[&str]; 10] = [
    &["HSET", "KEY", "tokens", "5"],
    &["HSET", "KEY", "refilledAt", "5"],
    &["HSET", "KEY", "refilled_at", "5", "tokens", "5"],
    &["HSET", "KEY", "refilledAt", "5", "refilled_at", "5", "tokens", "5"],
    &["HSET", "KEY", "refilledAt", "", "tokens", "5"],
    &["HSET", "KEY", "refilledAt", "soon", "tokens", "5"],
    &["HSET", "KEY", "refilledAt", "-5", "tokens", "5"],
    &["HSET", "KEY", "refilledAt", "5", "tokens", "many"],
    &["HSET", "KEY", "refilledAt", "5", "tokens", "9007199254740992"],
    &["HSET", "KEY", "refilledAt", "9007199254740992", "tokens", "5"],
];

/// What is no counter, though it is a string.
const ODD_COUNTERS: [&[&str]; 11] = [
    &["SET", "KEY", ""],
    &["SET", "KEY", "1.5"],
    &["SET", "KEY", " 1"],
    &["SET", "KEY", "0x10"],
    &["SET", "KEY", "1e3"],
    &["SET", "KEY", "inf"],
    &["SET", "KEY", "+1"],
    &["SET", "KEY", "00"],
    &["SET", "KEY", "007"],
    &["SET", "KEY", "00000000000000000000001"],
    &["SET", "KEY", "99999999999999999999"],
];

/// The commands that plant a stranger under this key, one each: where a bucket would be, or a counter.
pub fn strangers(key: &str, is_bucket: bool) -> impl Iterator<Item = Vec<&str>> {
    let odd: &[&[&str]] = if is_bucket { &ODD_BUCKETS } else { &ODD_COUNTERS };
    let planted = STRANGERS.iter().chain(odd);
    planted.map(move |words| words.iter().map(|&word| if word == "KEY" { key } else { word }).collect())
}
