//! A server that says one thing, whatever it is asked.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
};

/// A server that gives one answer to all that arrives, on every connection.
///
/// Its threads end with the connections; it goes on listening until the test's process ends.
#[derive(Clone, Copy, Debug)]
pub struct Canned {
    address: SocketAddr,
}

impl Canned {
    /// Answers each time with these bytes; with none at all it is mute.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn answering(answer: &'static [u8]) -> Self {
        Self::start(answer, false)
    }

    /// Answers once with these bytes, and closes the connection.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn closing_after(answer: &'static [u8]) -> Self {
        Self::start(answer, true)
    }

    fn start(answer: &'static [u8], closes: bool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a test needs a free port");
        let address = listener.local_addr().expect("a bound port is known");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || talk(stream, answer, closes));
            }
        });
        Self { address }
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

fn talk(mut stream: TcpStream, answer: &[u8], closes: bool) {
    let mut asked = [0; 16 * 1024];
    while stream.read(&mut asked).is_ok_and(|read| read > 0) {
        if stream.write_all(answer).is_err() || closes {
            return;
        }
    }
}
