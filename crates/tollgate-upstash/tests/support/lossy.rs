//! A proxy that swallows answers: what was asked has been done, and nobody is told.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

pub(crate) struct Lossy {
    pub(crate) url: String,
    left: Arc<AtomicUsize>,
}

impl Lossy {
    /// In front of what answers at `address`.
    pub(crate) async fn start(address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let left = Arc::new(AtomicUsize::new(0));
        let proxy = Self { url, left: Arc::clone(&left) };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&address).await.unwrap();
                tokio::spawn(pass(client, server, Arc::clone(&left)));
            }
        });
        proxy
    }

    /// Swallows the next answers, so many.
    pub(crate) fn swallow(&self, count: usize) {
        self.left.store(count, Ordering::Relaxed);
    }

    /// How many it is still to swallow.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }
}

async fn pass(client: TcpStream, server: TcpStream, left: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let questions = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
    });
    let mut answer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from_server.read(&mut answer).await {
        let swallow =
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        if swallow || to_client.write_all(&answer[..length]).await.is_err() {
            break;
        }
    }
    questions.abort();
}
