//! What the gateway does for a call, beside what it does for a request that asks nothing of it.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Mutex,
};
use tollgate_script::{Call, Dialect};

use crate::net::{
    Failure, Goal, Row,
    load::load,
    rig::{self, Rig, TOKEN},
};

const CALLERS: usize = 64;

pub(crate) fn rows(rig: &Rig, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    // Makes the script known.
    let store = rig.rest(rig.gateway, false)?;
    rig.callers.block_on(rig::take(&store, 0, rig::now()))?;
    let eval = post(&rig::take_script(0, 1, None)?);
    let health = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned();
    let name = "gateway, one EVALSHA a request ÷ its own GET /, 64 connections";
    let goal = Goal::AtLeast { must: 0.5, aim: 0.7 };
    show(&Row::compare((name, "requests/s"), goal, || requests(rig, &eval), || requests(rig, &health))?);
    Ok(())
}

/// The request that holds this call.
fn post(call: &Call) -> String {
    let words = call.keys.iter().chain(call.args.iter());
    let words: String = words.map(|word| format!(",\"{word}\"")).collect();
    let (sha1, count) = (call.script.sha1(Dialect::Upstash), call.keys.len());
    let body = format!("[\"EVALSHA\",\"{sha1}\",{count}{words}]");
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// How many of these requests are answered a second. The client is as small as one can be: what is measured is the gateway.
fn requests(rig: &Rig, request: &str) -> Result<f64, Failure> {
    let connect = || async {
        let stream = TcpStream::connect(rig.gateway).await?;
        stream.set_nodelay(true)?;
        Ok::<_, Failure>(Mutex::new(stream))
    };
    let mut connections = Vec::new();
    for _ in 0..CALLERS {
        connections.push(rig.callers.block_on(connect())?);
    }
    let (connections, request): (Arc<[_]>, Arc<str>) = (connections.into(), request.into());
    let seen = load(rig, CALLERS, move |caller| {
        let (connections, request) = (Arc::clone(&connections), Arc::clone(&request));
        async move {
            // Each connection has one caller, so nobody waits for the lock.
            exchange(&mut *connections[caller].lock().await, request.as_bytes()).await
        }
    })?;
    Ok(seen.per_second)
}

async fn exchange(stream: &mut TcpStream, request: &[u8]) -> Result<(), Failure> {
    stream.write_all(request).await?;
    let mut answer = Vec::with_capacity(1_024);
    while !is_whole(&answer)? {
        if stream.read_buf(&mut answer).await? == 0 {
            return Err("the gateway hung up".into());
        }
    }
    Ok(())
}

/// Whether this is a whole answer, which has to be one of status 200.
fn is_whole(answer: &[u8]) -> Result<bool, Failure> {
    let text = std::str::from_utf8(answer)?;
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Ok(false) };
    if !head.starts_with("HTTP/1.1 200 ") {
        return Err(format!("the gateway answers {text}").into());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.ok_or("an answer without its length")?.parse()?;
    Ok(body.len() >= length)
}
