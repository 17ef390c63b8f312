//! A server that answers as a test says, down to broken connections.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tollgate_testbed::TOKEN;
use tollgate_upstash::{Credentials, UpstashStore, UpstashStoreBuilder};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Received {
    /// The commands in it, each an array.
    pub(crate) fn commands(&self) -> Vec<&Value> {
        if self.path == "/" { vec![&self.body] } else { self.body.as_array().unwrap().iter().collect() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The answer in which `answer` says each command's.
    pub(crate) fn each(&self, answer: impl FnMut(&Value) -> Value) -> Act {
        let answers: Vec<Value> = self.commands().into_iter().map(answer).collect();
        if self.path == "/" { Act::json(200, &answers[0]) } else { Act::json(200, &Value::Array(answers)) }
    }
}

/// What is done about a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A whole answer.
    Answer { status: u16, headers: String, body: String },
    /// These bytes and the end of the connection.
    Raw(Vec<u8>),
    /// These bytes and a broken connection.
    Break(Vec<u8>),
    /// Nothing, with the connection left open.
    Mute,
    /// One byte after the other, for ever.
    Drip,
    /// Something else as soon as there is a permit.
    Hold(Arc<Semaphore>, Box<Self>),
}

impl Act {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Answer { status, headers: String::new(), body: body.to_string() }
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self::Answer { status, headers: String::new(), body: body.to_owned() }
    }
}

type Handler = dyn Fn(&Received) -> Act + Send + Sync;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(handler: impl Fn(&Received) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, connections) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let server = Self { address, seen: Arc::clone(&seen), connections: Arc::clone(&connections) };
        let handler: Arc<Handler> = Arc::new(handler);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(stream, Arc::clone(&handler), Arc::clone(&seen)));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn builder(&self) -> UpstashStoreBuilder {
        UpstashStore::builder(Credentials::new(&self.url(), TOKEN).unwrap())
    }

    pub(crate) fn seen(&self) -> Vec<Received> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

async fn serve(mut stream: TcpStream, handler: Arc<Handler>, seen: Arc<Mutex<Vec<Received>>>) {
    let mut buffer = Vec::new();
    while let Some(received) = read(&mut stream, &mut buffer).await {
        let act = handler(&received);
        seen.lock().unwrap().push(received);
        if act.perform(&mut stream).await.is_none() {
            return;
        }
    }
}

/// The next request, or nothing if there is none.
async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Received> {
    loop {
        if let Some(head_end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(buffer[..head_end].to_vec()).unwrap();
            let path = head.split(' ').nth(1).unwrap().to_owned();
            let received = Received { path, head, body: Value::Null };
            let length: usize = received.header("content-length").unwrap_or("0").parse().unwrap();
            let end = head_end + 4 + length;
            if buffer.len() >= end {
                let body = serde_json::from_slice(&buffer[head_end + 4..end]).unwrap();
                buffer.drain(..end);
                return Some(Received { body, ..received });
            }
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

impl Act {
    /// Nothing if the connection is over.
    #[expect(clippy::disallowed_methods, reason = "an answer that comes byte by byte takes its time")]
    async fn perform(self, stream: &mut TcpStream) -> Option<()> {
        let mut act = self;
        while let Self::Hold(permits, then) = act {
            permits.acquire_owned().await.ok()?.forget();
            act = *then;
        }
        match act {
            Self::Answer { status, headers, body } => {
                let length = body.len();
                let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n");
                stream.write_all((head + &body).as_bytes()).await.ok()
            }
            Self::Raw(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                stream.shutdown().await.ok()?;
                None
            }
            Self::Break(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                stream.set_zero_linger().unwrap();
                None
            }
            Self::Mute => stream.read_u8().await.ok().and(None),
            Self::Drip => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await.ok()?;
                let mut ticks = tokio::time::interval(Duration::from_millis(5));
                loop {
                    ticks.tick().await;
                    stream.write_all(b" ").await.ok()?;
                }
            }
            Self::Hold(..) => None,
        }
    }
}
