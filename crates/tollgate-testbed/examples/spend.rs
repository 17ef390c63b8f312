//! Takes of a limit of ten a week over Upstash's REST API, and prints how many were admitted:
//! `spend <fixed|sliding|bucket> <prefix> <key> <times>`.
//!
//! `cargo xtask interop` runs it beside Upstash's own limiter, on one count.
#![expect(clippy::print_stdout, reason = "what it prints is its answer")]

use std::{error::Error, sync::Arc};

use tollgate_guard::{Limit, Limiter, OnOutage, OwnedPolicy, SystemClock, Window};
use tollgate_upstash::{Credentials, Prefix, UpstashStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [algorithm, prefix, key, times] = args.as_slice() else {
        return Err("spend <fixed|sliding|bucket> <prefix> <key> <times>".into());
    };
    let week = Window::try_from_ms(7 * 86_400_000)?;
    let limit = match &**algorithm {
        "fixed" => Limit::fixed(10, week),
        "sliding" => Limit::sliding(10, week),
        "bucket" => Limit::bucket(10, 10, week),
        other => return Err(format!("there is no algorithm {other}").into()),
    };
    let credentials = Credentials::from_env(|name| std::env::var(name).ok())?.ok_or("no credentials")?;
    let store = UpstashStore::builder(credentials).prefix(Prefix::try_new(prefix)?).build()?;
    let policy = OwnedPolicy::try_new("spend", 1, limit, OnOutage::Deny)?;
    let limiter = Limiter::new(policy, Arc::new(store), SystemClock)?;
    let mut admitted = 0;
    for _ in 0..times.parse::<u32>()? {
        let result = limiter.limit(key).await;
        if result.degraded {
            return Err("the store is gone".into());
        }
        admitted += u32::from(result.success);
    }
    println!("{admitted}");
    Ok(())
}
