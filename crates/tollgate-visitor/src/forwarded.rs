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
    let mut hops = Hops::<Option<&str>>::new();
    for value in values(headers, &FORWARDED)? {
        for part in split_outside_quotes(ascii(value)?, ',') {
            let part = part.trim_matches([' ', '\t']);
            if !part.is_empty() {
                push(&mut hops, element(part)?)?;
            }
        }
    }
    rule.client(&hops, |hop| node(&unescape(hop.ok_or(VisitorError::UnknownIdentifier)?)))
}

/// Checks one element and gives the value of its `for`, still escaped.
fn element(text: &str) -> Result<Option<&str>, VisitorError> {
    let mut names = ArrayVec::<&str, MAX_PARAMETERS>::new();
    let mut client = None;
    // The grammar allows an empty parameter: `for=192.0.2.1;`.
    for pair in split_outside_quotes(text, ';').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or(MalformedForwarded)?;
        let value = unquote(value).ok_or(MalformedForwarded)?;
        let repeated = names.iter().any(|seen| seen.eq_ignore_ascii_case(name));
        if !is_token(name) || repeated || names.try_push(name).is_err() {
            return Err(MalformedForwarded);
        }
        if name.eq_ignore_ascii_case("for") {
            client = Some(value);
        }
    }
    Ok(client)
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
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    })
}

/// The pieces between the separators that are in no quoted string (RFC 9110 §5.6.4).
///
/// A piece whose quotes do not match is one that [`unquote`] refuses, wherever the split went wrong because of it.
fn split_outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |char| {
        let literal = std::mem::take(&mut escaped);
        match char {
            '"' if !literal => quoted = !quoted,
            '\\' if !literal => escaped = quoted,
            _ => return char == separator && !quoted,
        }
        false
    })
}

/// The text of a token, or what is between the quotes of a whole quoted string.
fn unquote(value: &str) -> Option<&str> {
    let Some(rest) = value.strip_prefix('"') else {
        return is_token(value).then_some(value);
    };
    let text = rest.strip_suffix('"')?;
    let mut escaped = false;
    let closes_early = text.bytes().any(|byte| {
        let literal = std::mem::take(&mut escaped);
        escaped = byte == b'\\' && !literal;
        byte == b'"' && !literal
    });
    (!closes_early && !escaped).then_some(text)
}

/// Takes the escapes out; only a text that has some needs a new one.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        plain.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    Cow::Owned(plain)
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| {
            matches!(
                byte,
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-'
                    | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
            )
        })
}
