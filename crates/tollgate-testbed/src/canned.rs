//! A server that says one thing, whatever it is asked.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use socket2::SockRef;

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
        Self::start(answer, After::Listen)
    }

    /// Answers once with these bytes, and closes the connection.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn closing_after(answer: &'static [u8]) -> Self {
        Self::start(answer, After::Close)
    }

    /// Answers once with these bytes, and resets the connection.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn resetting_after(answer: &'static [u8]) -> Self {
        Self::start(answer, After::Reset)
    }

    fn start(answer: &'static [u8], after: After) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a test needs a free port");
        let address = listener.local_addr().expect("a bound port is known");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || talk(stream, answer, after));
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

/// What is done once something was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Listen,
    Close,
    Reset,
}

fn talk(mut stream: TcpStream, answer: &[u8], after: After) {
    let mut asked = [0; 16 * 1024];
    while stream.read(&mut asked).is_ok_and(|read| read > 0) {
        if stream.write_all(answer).is_err() || after != After::Listen {
            break;
        }
    }
    if after == After::Reset {
        // Closed at once then, with what was not read or not sent yet thrown away.
        let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    }
}
