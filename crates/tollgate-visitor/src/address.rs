//! The forms in which a header may write an address, each read strictly.
//!
//! Every reader returns the canonical address: an IPv4-mapped one is the IPv4 address, however it was written.

use std::net::{IpAddr, Ipv6Addr};

use crate::VisitorError::{self, MalformedAddress};

/// How a header writes its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `203.0.113.7`, `2001:db8::1`.
    Plain,
    /// Also `203.0.113.7:443`, `[2001:db8::1]`, `[2001:db8::1]:443`.
    MaybePort,
    /// `203.0.113.7:443`, `2001:db8::1:443`: always a port, never brackets.
    LastColonPort,
}

impl Form {
    pub(crate) fn read(self, text: &str) -> Result<IpAddr, VisitorError> {
        match self {
            Self::Plain => plain(text),
            Self::MaybePort => maybe_port(text),
            Self::LastColonPort => last_colon_port(text),
        }
    }
}

/// The value of a field as text, without the white space around it that HTTP allows.
pub(crate) fn ascii(value: &[u8]) -> Result<&str, VisitorError> {
    match std::str::from_utf8(value) {
        Ok(text) if text.is_ascii() => Ok(text.trim_matches([' ', '\t'])),
        _ => Err(VisitorError::NotAscii),
    }
}

/// std's parser is the strict one: four decimal octets without leading zeros, groups of at most four digits, no zone.
pub(crate) fn plain(text: &str) -> Result<IpAddr, VisitorError> {
    let address: IpAddr = text.parse().map_err(|_| MalformedAddress)?;
    Ok(address.to_canonical())
}

pub(crate) fn maybe_port(text: &str) -> Result<IpAddr, VisitorError> {
    if text.starts_with('[') {
        return match bracketed(text)? {
            (address, None) => Ok(address),
            (address, Some(port)) if is_port(port) => Ok(address),
            _ => Err(MalformedAddress),
        };
    }
    match text.split_once(':') {
        // A second colon means IPv6, and without brackets nothing tells a port from its last group.
        Some((address, port)) if !port.contains(':') => {
            if is_port(port) {
                plain(address)
            } else {
                Err(MalformedAddress)
            }
        }
        _ => plain(text),
    }
}

/// Splits `[address]` or `[address]:port`, where the port is not looked at yet.
pub(crate) fn bracketed(text: &str) -> Result<(IpAddr, Option<&str>), VisitorError> {
    let (address, rest) =
        text.strip_prefix('[').and_then(|text| text.split_once(']')).ok_or(MalformedAddress)?;
    let address: Ipv6Addr = address.parse().map_err(|_| MalformedAddress)?;
    let port = match rest.strip_prefix(':') {
        Some(port) => Some(port),
        None if rest.is_empty() => None,
        None => return Err(MalformedAddress),
    };
    Ok((IpAddr::V6(address).to_canonical(), port))
}

/// One to five decimal digits within the range of a port.
pub(crate) fn is_port(text: &str) -> bool {
    text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

fn last_colon_port(text: &str) -> Result<IpAddr, VisitorError> {
    match text.rsplit_once(':') {
        Some((address, port)) if is_port(port) => plain(address),
        _ => Err(MalformedAddress),
    }
}
