//! Connections of clients.

use std::{
    future::Future,
    io,
    pin::pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, time::Instant};

/// How long the head of a request may be awaited, from the end of the request before: longer than clients keep a
/// connection that is not in use, because the first to close it should be the one who would use it.
const HEAD_WITHIN: Duration = Duration::from_secs(120);

/// How long requests that have begun may take once the gateway is told to stop.
const GRACE: Duration = Duration::from_secs(5);

/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// How long nothing more is said of that: it fails again after each pause.
const SILENCE: Duration = Duration::from_secs(60);

/// Serves until `stop` is done, then lets requests that have begun finish.
#[expect(
    clippy::disallowed_methods,
    reason = "bounds of the server itself on stopping and on accepting; no limit is decided by them"
)]
pub(crate) async fn serve(
    router: Router,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
    accepted_so_far: &AtomicU64,
) {
    let connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    let mut stop = pin!(stop);
    let mut said_at: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_of_the_client(&error) => continue,
            Err(error) => {
                if said_at.is_none_or(|at| at.elapsed() >= SILENCE) {
                    said_at = Some(Instant::now());
                    tracing::warn!("no connection can be accepted: {error}");
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        accepted_so_far.fetch_add(1, Ordering::Relaxed);
        // Answers are small; without it each would wait for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        // It ends with an error if the client goes away, which is the client's right.
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move { drop(connection.await) });
    }
    drop(listener);
    tokio::select! {
        () = connections.shutdown() => {}
        () = tokio::time::sleep(GRACE) => tracing::warn!("some requests were still running and are cut off"),
    }
}

/// Whether only the client that was about to be accepted has to do with it.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}
