//! Connections of clients.

use std::{
    future::Future,
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::Router;
use hyper::{
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore, time::Instant};

/// How long the head of a request may be awaited, from the end of the request before: longer than clients keep a
/// connection that is not in use, because the first to close it should be the one who would use it.
const HEAD_WITHIN: Duration = Duration::from_secs(120);

/// How long the first head of a connection may be awaited. Whoever has not even said what he wants has proved nothing, and each
/// connection is one less for the others.
const FIRST_HEAD_WITHIN: Duration = Duration::from_secs(10);

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
    most_connections: usize,
    accepted_so_far: &AtomicU64,
) {
    let connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    let mut stop = pin!(stop);
    let mut said_at: Option<Instant> = None;
    let places = Arc::new(Semaphore::new(most_connections.min(Semaphore::MAX_PERMITS)));
    loop {
        // Who finds no place waits where the system keeps those who were not accepted yet.
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            accepted = accepted => accepted,
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
        let has_begun = Arc::new(AtomicBool::new(false));
        let (service, begins) = (TowerToHyperService::new(router.clone()), Arc::clone(&has_begun));
        let service = service_fn(move |request| {
            begins.store(true, Ordering::Relaxed);
            service.call(request)
        });
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            let _place = place;
            let mut connection = pin!(connection);
            let first = tokio::time::timeout(FIRST_HEAD_WITHIN, &mut connection).await;
            // It ends with an error if the client goes away, which is the client's right.
            if first.is_err() && has_begun.load(Ordering::Relaxed) {
                let _ = connection.await;
            }
        });
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

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    use super::*;

    const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

    async fn served(most_connections: usize) -> (std::net::SocketAddr, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, accepted) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
        let router = Router::new().route("/", get(|| async { "alive" }));
        let counted = Arc::clone(&accepted);
        tokio::spawn(async move {
            serve(router, listener, std::future::pending(), most_connections, &counted).await;
        });
        (address, accepted)
    }

    async fn ask(client: &mut TcpStream) {
        client.write_all(GET).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"alive") {
            assert_ne!(client.read_buf(&mut answer).await.unwrap(), 0, "it is closed");
        }
    }

    /// How long a connection is kept on which nothing more comes.
    async fn kept(client: &mut TcpStream) -> Duration {
        let start = Instant::now();
        let _ = client.read_to_end(&mut Vec::new()).await;
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_not_kept_as_one_with() {
        let (address, _) = served(10).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        assert!(kept(&mut client).await <= FIRST_HEAD_WITHIN + PAUSE);
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
        assert!(kept(&mut client).await <= FIRST_HEAD_WITHIN + PAUSE);
        let mut client = TcpStream::connect(address).await.unwrap();
        ask(&mut client).await;
        let kept = kept(&mut client).await;
        assert!(kept > HEAD_WITHIN - PAUSE && kept < HEAD_WITHIN + PAUSE, "{kept:?}");
    }

    #[tokio::test]
    async fn connections_are_few_enough_and_the_next_one_waits() {
        let (address, accepted) = served(2).await;
        let mut clients =
            [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
        for client in &mut clients {
            ask(client).await;
        }
        let mut next = TcpStream::connect(address).await.unwrap();
        next.write_all(GET).await.unwrap();
        for _ in 0..50 {
            ask(&mut clients[0]).await;
        }
        assert_eq!(accepted.load(Ordering::Relaxed), 2);
        drop(clients);
        ask(&mut next).await;
        assert_eq!(accepted.load(Ordering::Relaxed), 3);
    }
}
