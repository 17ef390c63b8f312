//! Answers of Redis in which every text is one.
//!
//! A script, and some errors, can put bytes into an error that are no UTF-8. The client crate reads such an error as the end of
//! the protocol, and closes the connection that all requests share. So what it gets to read has gone through here.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

/// How much of a text is looked at in one piece.
const MOST_TEXT: usize = 64 * 1024;

/// A stream of answers; in errors and statuses, what is no UTF-8 becomes U+FFFD. Values are left alone.
#[derive(Debug)]
pub(crate) struct Lossy<S> {
    inner: S,
    scan: Scan,
    chunk: Box<[u8]>,
    /// What was read and not yet passed on.
    ready: BytesMut,
}

impl<S> Lossy<S> {
    pub(crate) fn new(inner: S) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        Self { inner, scan: Scan::default(), chunk, ready: BytesMut::new() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lossy<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { inner, scan, chunk, ready } = self.get_mut();
        while ready.is_empty() {
            let mut read = ReadBuf::new(chunk);
            ready!(Pin::new(&mut *inner).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            scan.pass(read.filled(), ready);
        }
        let length = ready.len().min(out.remaining());
        out.put_slice(&ready[..length]);
        ready.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lossy<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

/// Follows the protocol just far enough to know a text from a value. An array is a line, and then its elements.
#[derive(Debug, Default)]
struct Scan {
    at: At,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
enum At {
    /// The first byte of a reply.
    #[default]
    Type,
    /// A line of digits and the like.
    Line,
    /// An error or a status.
    Text,
    /// The length of a value, of which so much is known; nothing if there is none.
    Length(Option<u64>),
    /// A value and the line break behind it, of which so much is to come.
    Value(u64),
}

impl Scan {
    /// Passes on what was read, except for a text that has not ended yet.
    fn pass(&mut self, mut bytes: &[u8], out: &mut BytesMut) {
        while let Some((&first, rest)) = bytes.split_first() {
            self.at = match self.at {
                At::Type => {
                    out.extend_from_slice(&[first]);
                    bytes = rest;
                    match first {
                        b'-' | b'+' => At::Text,
                        b'$' | b'!' | b'=' => At::Length(Some(0)),
                        _ => At::Line,
                    }
                }
                At::Value(left) => {
                    let length = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    let (value, rest) = bytes.split_at(length);
                    out.extend_from_slice(value);
                    bytes = rest;
                    match left - value.len() as u64 {
                        0 => At::Type,
                        left => At::Value(left),
                    }
                }
                At::Line | At::Text | At::Length(_) => {
                    let end = bytes.iter().position(|&byte| byte == b'\n').map(|end| end + 1);
                    let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
                    bytes = rest;
                    self.line(line, end.is_some(), out)
                }
            };
        }
    }

    /// Passes on a part of a line, perhaps with its end.
    fn line(&mut self, line: &[u8], has_ended: bool, out: &mut BytesMut) -> At {
        match self.at {
            At::Text => {
                self.text.extend_from_slice(line);
                if has_ended || self.text.len() > MOST_TEXT {
                    out.extend_from_slice(String::from_utf8_lossy(&self.text).as_bytes());
                    self.text.clear();
                }
            }
            _ => out.extend_from_slice(line),
        }
        match self.at {
            At::Length(length) => {
                let digits = line.iter().take_while(|byte| !byte.is_ascii_control());
                let length = digits.fold(length, |length, &digit| {
                    let digit = char::from(digit).to_digit(10)?;
                    length?.checked_mul(10)?.checked_add(u64::from(digit))
                });
                match length.and_then(|length| length.checked_add(2)) {
                    _ if !has_ended => At::Length(length),
                    Some(left) => At::Value(left),
                    None => At::Type,
                }
            }
            at if !has_ended => at,
            _ => At::Type,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn passed<'b>(chunks: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
        let (mut scan, mut out) = (Scan::default(), BytesMut::new());
        for chunk in chunks {
            scan.pass(chunk, &mut out);
        }
        out.to_vec()
    }

    /// A reply as Redis writes it, and as it is to be read.
    fn replies() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let line = |kind: u8| {
            vec(any::<u8>().prop_filter("no line break", |byte| !b"\r\n".contains(byte)), 0..12).prop_map(
                move |text| {
                    let lossy = String::from_utf8_lossy(&text).into_owned().into_bytes();
                    ([&[kind], &*text, b"\r\n"].concat(), [&[kind], &*lossy, b"\r\n"].concat())
                },
            )
        };
        let same = |bytes: Vec<u8>| (bytes.clone(), bytes);
        let value = vec(any::<u8>(), 0..12).prop_map(move |value| {
            same([format!("${}\r\n", value.len()).as_bytes(), &value, b"\r\n"].concat())
        });
        let one = prop_oneof![
            line(b'-'),
            line(b'+'),
            value,
            any::<i64>().prop_map(move |number| same(format!(":{number}\r\n").into_bytes())),
            Just(same(b"$-1\r\n".to_vec())),
            Just(same(b"*-1\r\n".to_vec())),
        ];
        one.prop_recursive(3, 16, 4, |inner| {
            vec(inner, 0..4).prop_map(|inner| {
                let (written, read): (Vec<_>, Vec<_>) = inner.into_iter().unzip();
                let head = format!("*{}\r\n", written.len()).into_bytes();
                ([head.clone(), written.concat()].concat(), [head, read.concat()].concat())
            })
        })
    }

    proptest! {
        #[test]
        fn only_texts_that_are_none_change(replies in vec(replies(), 1..5), size in 1_usize..20) {
            let (written, read): (Vec<_>, Vec<_>) = replies.into_iter().unzip();
            let (written, read) = (written.concat(), read.concat());
            prop_assert_eq!(passed(written.chunks(size)), read);
        }

        #[test]
        fn nothing_that_arrives_panics(bytes in vec(any::<u8>(), 0..64), size in 1_usize..20) {
            let _ = passed(bytes.chunks(size));
        }
    }

    #[test]
    fn a_text_without_end_takes_no_more_memory_than_a_long_one() {
        let mut scan = Scan::default();
        scan.pass(b"-ERR ", &mut BytesMut::new());
        for _ in 0..100 {
            scan.pass(&[b'x'; 10_000], &mut BytesMut::new());
            assert!(scan.text.len() <= MOST_TEXT);
        }
    }

    #[test]
    fn lengths_that_no_server_says_are_lines() {
        for odd in ["$x\r\n", "$99999999999999999999\r\n", "$?\r\n"] {
            let bytes = format!("{odd}-\u{e4}\r\n");
            assert_eq!(passed([bytes.as_bytes()]), bytes.as_bytes());
        }
    }
}
