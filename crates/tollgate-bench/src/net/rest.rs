//! The Upstash store: calls that share requests beside one request a call.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tollgate_upstash::UpstashStore;

use crate::net::{
    Failure, Goal, Row,
    load::{Seen, load},
    rig::{self, Rig},
};

const BATCHED: [(usize, &str, Goal); 2] = [
    (64, "REST, batched ÷ one POST a call, 64 callers", Goal::AtLeast { must: 2.0, aim: 3.5 }),
    (512, "REST, batched ÷ one POST a call, 512 callers", Goal::AtLeast { must: 3.0, aim: 4.5 }),
];

/// How far away the server of the last row is: there and back.
const AWAY: Duration = Duration::from_millis(5);

pub(crate) fn rows(rig: &Rig, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    let (batched, single) = (rig.rest(rig.gateway, true)?, rig.rest(rig.gateway, false)?);
    for (callers, name, goal) in BATCHED {
        let ours = || Ok(takes(rig, &batched, callers)?.per_second);
        let peer = || Ok(takes(rig, &single, callers)?.per_second);
        show(&Row::compare((name, "calls/s"), goal, ours, peer)?);
    }
    let far = far_away(rig)?;
    let (batched, single) = (rig.rest(far, true)?, rig.rest(far, false)?);
    let name = "REST, p50 batched ÷ unbatched, server 5 ms away, 64 callers";
    let ours = || Ok(takes(rig, &batched, 64)?.p50_ms);
    let peer = || Ok(takes(rig, &single, 64)?.p50_ms);
    let goal = Goal::AtMost { must: 1.10, aim: 0.95 };
    show(&Row::compare((name, "ms"), goal, ours, peer)?);
    Ok(())
}

/// Takes over REST by so many callers.
pub(crate) fn takes(rig: &Rig, store: &UpstashStore, callers: usize) -> Result<Seen, Failure> {
    let store = store.clone();
    load(rig, callers, move |caller| {
        let store = store.clone();
        async move { rig::take(&store, caller, rig::now()).await }
    })
}

/// The gateway's address seen from afar: each answer is on its way for [`AWAY`].
fn far_away(rig: &Rig) -> Result<SocketAddr, Failure> {
    let gateway = rig.gateway;
    let listener = rig.callers.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let address = listener.local_addr()?;
    rig.callers.spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            tokio::spawn(carry(near, gateway));
        }
    });
    Ok(address)
}

/// Carries what is said both ways until either side hangs up.
#[expect(clippy::disallowed_methods, reason = "a distance is made of waiting")]
async fn carry(near: TcpStream, gateway: SocketAddr) -> Result<(), Failure> {
    let far = TcpStream::connect(gateway).await?;
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ((mut near_in, mut near_out), (mut far_in, mut far_out)) = (near.into_split(), far.into_split());
    tokio::spawn(async move { tokio::io::copy(&mut near_in, &mut far_out).await });
    let (send, mut on_its_way) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some((due, said)) = on_its_way.recv().await {
            tokio::time::sleep_until(Instant::into(due)).await;
            let said: Vec<u8> = said;
            if near_out.write_all(&said).await.is_err() {
                return;
            }
        }
    });
    loop {
        let mut said = Vec::with_capacity(16 * 1024);
        if far_in.read_buf(&mut said).await? == 0 || send.send((Instant::now() + AWAY, said)).is_err() {
            return Ok(());
        }
    }
}
