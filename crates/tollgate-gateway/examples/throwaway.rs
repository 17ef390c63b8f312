//! A Redis that keeps nothing, a gateway in front of it, and the environment of its clients, until Ctrl-C.
//!
//! `cargo xtask redis` runs it, and `cargo xtask interop` runs the official clients against it.
#![expect(clippy::print_stdout, reason = "what it prints is to be pasted into a shell")]

use std::error::Error;

use tokio::net::TcpListener;
use tollgate_gateway::Gateway;
use tollgate_testbed::RedisServer;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    // Signals are awaited before there is a server that one of them would leave behind.
    let stop = stop()?;
    let redis = RedisServer::start();
    let (token, read_only_token) = (secret()?, secret()?);
    let gateway = Gateway::builder(redis.url()).token(&token).read_only_token(&read_only_token).build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("export UPSTASH_REDIS_REST_URL=http://{}", listener.local_addr()?);
    println!("export UPSTASH_REDIS_REST_TOKEN={token}");
    println!("export UPSTASH_REDIS_REST_READONLY_TOKEN={read_only_token}");
    println!("export REDIS_URL={}", redis.url());
    println!("# Ctrl-C stops both servers; what they hold is gone then.");
    gateway.serve(listener, stop).await?;
    Ok(())
}

fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(unix)]
fn stop() -> std::io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop() -> std::io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
