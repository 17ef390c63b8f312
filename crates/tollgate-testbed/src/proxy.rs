//! A way to a server that can lose what comes back.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

/// A proxy in front of a server, which passes everything on until it is told to lose an answer.
///
/// Its threads end with the connections; it goes on listening until the test's process ends.
#[derive(Clone, Debug)]
pub struct Proxy {
    address: SocketAddr,
    to_lose: Arc<AtomicU32>,
    connections: Arc<AtomicU32>,
}

impl Proxy {
    /// A proxy to this address.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a test needs a free port");
        let address = listener.local_addr().expect("a bound port is known");
        let proxy = Self { address, to_lose: Arc::default(), connections: Arc::default() };
        let at_work = proxy.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                at_work.connections.fetch_add(1, Ordering::SeqCst);
                // A server that is down: the client's connection is closed, as the server's would be.
                let Ok(server) = TcpStream::connect(to) else { continue };
                at_work.join(client, server);
            }
        });
        proxy
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections have been opened through it.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }

    /// Loses the next so many answers: what was asked reaches the server and is done there; then, instead of passing the answer
    /// on, the connection is closed.
    pub fn lose(&self, answers: u32) {
        self.to_lose.fetch_add(answers, Ordering::SeqCst);
    }

    /// How many answers it was told to lose and has not lost yet.
    #[must_use]
    pub fn left_to_lose(&self) -> u32 {
        self.to_lose.load(Ordering::SeqCst)
    }

    fn join(&self, client: TcpStream, server: TcpStream) {
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let (Ok(from_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else { return };
        thread::spawn(move || pass_on(from_client, server, || true));
        let to_lose = Arc::clone(&self.to_lose);
        thread::spawn(move || {
            pass_on(from_server, client, || {
                to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
            });
        });
    }
}

/// Passes on what is read while `may_pass` says so, and closes both ends after that.
fn pass_on(mut from: TcpStream, mut to: TcpStream, may_pass: impl Fn() -> bool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if !may_pass() || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    // An end that is closed already is closed.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
