//! `Forwarded` (RFC 7239): elements of parameters, where quotes may hide the separators.

use std::borrow::Cow;
use std::net::IpAddr;

use arrayvec::ArrayVec;
use http::HeaderMap;
use http::header::FORWARDED;

use crate::VisitorError::{self, MalformedAddress, MalformedForwarded};
use crate::address::{ascii, bracketed, is_port, plain};
use crate::field::values;
use crate::hops::{HopRule, Hops, push};

/// The registry has four parameters; the bound keeps the search for a repeated one linear.
const MAX_PARAMETERS: usize = 16;

/// The client's address. `None`: the field is absent or has only empty elements.
///
/// The whole field must be well formed before any of it counts: a client that opens a quote must not be able to hide
/// the element that the proxy appended. Each field line must stand on its own for the same reason.
pub(crate) fn client(headers: &HeaderMap, rule: &HopRule) -> Result<Option<IpAddr>, VisitorError> {
    let mut hops = Hops::<Option<Value<'_>>>::new();
    for value in values(headers, &FORWARDED)? {
        let mut rest = Rest(ascii(value)?);
        loop {
            rest.skip_white_space();
            if !matches!(rest.peek(), None | Some(b',')) {
                push(&mut hops, element(&mut rest)?)?;
                rest.skip_white_space();
            }
            match rest.next() {
                None => break,
                Some(b',') => {}
                Some(_) => return Err(MalformedForwarded),
            }
        }
    }
    rule.client(&hops, |hop| match hop {
        Some(value) => node(&value.text()),
        None => Err(VisitorError::UnknownIdentifier),
    })
}

/// One element up to its `,` or the end; gives the value of its `for`.
fn element<'a>(rest: &mut Rest<'a>) -> Result<Option<Value<'a>>, VisitorError> {
    let mut names = ArrayVec::<&str, MAX_PARAMETERS>::new();
    let mut client = None;
    loop {
        // The grammar allows an empty parameter: `for=192.0.2.1;`.
        if rest.peek().is_some_and(is_token_byte) {
            let name = rest.token()?;
            if names.iter().any(|seen| seen.eq_ignore_ascii_case(name)) || names.try_push(name).is_err() {
                return Err(MalformedForwarded);
            }
            if rest.next() != Some(b'=') {
                return Err(MalformedForwarded);
            }
            let value = rest.value()?;
            if name.eq_ignore_ascii_case("for") {
                client = Some(value);
            }
        }
        if rest.peek() != Some(b';') {
            return Ok(client);
        }
        rest.next();
    }
}

/// RFC 7239 §6: an address with an optional port, `unknown`, or an obfuscated identifier.
fn node(text: &str) -> Result<IpAddr, VisitorError> {
    let (address, port) = if text.starts_with('[') {
        let (address, port) = bracketed(text)?;
        (Ok(address), port)
    } else {
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        };
        let address = if name.eq_ignore_ascii_case("unknown") {
            Err(VisitorError::UnknownIdentifier)
        } else if is_obfuscated(name) {
            Err(VisitorError::ObfuscatedIdentifier)
        } else {
            plain(name)
        };
        (address, port)
    };
    if port.is_some_and(|port| !is_port(port) && !is_obfuscated(port)) {
        return Err(MalformedAddress);
    }
    address
}

/// `_` and at least one of `A-Z a-z 0-9 . _ -`.
fn is_obfuscated(text: &str) -> bool {
    text.strip_prefix('_').is_some_and(|name| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    })
}

/// The value of a parameter, still escaped.
#[derive(Clone, Copy, Debug)]
struct Value<'a>(&'a str);

impl<'a> Value<'a> {
    /// Takes the escapes out; only a value that has some needs a new text.
    fn text(self) -> Cow<'a, str> {
        if !self.0.contains('\\') {
            return Cow::Borrowed(self.0);
        }
        let mut text = String::with_capacity(self.0.len());
        let mut chars = self.0.chars();
        while let Some(char) = chars.next() {
            text.extend(if char == '\\' { chars.next() } else { Some(char) });
        }
        Cow::Owned(text)
    }
}

/// What is left to read. It holds ASCII only, so that every byte is a character.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn peek(&self) -> Option<u8> {
        self.0.bytes().next()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.take(1);
        Some(byte)
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.0.split_at_checked(bytes).unwrap_or((self.0, ""));
        self.0 = rest;
        taken
    }

    fn skip_white_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn token(&mut self) -> Result<&'a str, VisitorError> {
        let length = self.0.bytes().take_while(|&byte| is_token_byte(byte)).count();
        if length == 0 {
            Err(MalformedForwarded)
        } else {
            Ok(self.take(length))
        }
    }

    /// A token or a quoted string (RFC 9110 §5.6.4), without its quotes.
    fn value(&mut self) -> Result<Value<'a>, VisitorError> {
        if self.peek() != Some(b'"') {
            return self.token().map(Value);
        }
        self.next();
        let mut escaped = false;
        let end = self.0.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let value = Value(self.take(end.ok_or(MalformedForwarded)?));
        self.next();
        Ok(value)
    }
}

/// RFC 9110 §5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
