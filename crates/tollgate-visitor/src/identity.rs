//! From an address to a visitor: unwrap, refuse, cut, and hash where asked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[cfg(feature = "hash")]
use crate::hash::KeyedHash;
use crate::visitor::KeyText;
use crate::{Visitor, VisitorError};

/// What of an address makes the visitor.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) unwrap: Unwrap,
    pub(crate) shared: Box<[IpAddr]>,
    pub(crate) ipv6_prefix: u8,
    #[cfg(feature = "hash")]
    pub(crate) hash: Option<KeyedHash>,
}

impl Identity {
    pub(crate) fn visitor(&self, address: IpAddr) -> Result<Visitor, VisitorError> {
        let address = self.unwrap.apply(address);
        if !is_client(address) {
            return Err(VisitorError::NotAClientAddress);
        }
        if self.shared.contains(&address) {
            return Err(VisitorError::SharedAddress);
        }
        let mut key = KeyText::new();
        match address {
            IpAddr::V4(address) => push_ipv4(&mut key, address),
            IpAddr::V6(address) => push_network(&mut key, address, self.ipv6_prefix),
        }
        #[cfg(feature = "hash")]
        if let Some(hash) = &self.hash {
            return Ok(hash.visitor(&key));
        }
        Ok(Visitor::new(key))
    }
}

/// Which IPv6 addresses stand for the IPv4 address inside them. IPv4-mapped ones always do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unwrap {
    pub(crate) nat64: bool,
    pub(crate) six_to_four: bool,
}

impl Unwrap {
    pub(crate) fn apply(self, address: IpAddr) -> IpAddr {
        let IpAddr::V6(v6) = address.to_canonical() else {
            return address.to_canonical();
        };
        match v6.octets() {
            // RFC 6052 §2.1, the well-known prefix 64:ff9b::/96.
            [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] if self.nat64 => {
                IpAddr::V4(Ipv4Addr::new(a, b, c, d))
            }
            // RFC 3056 §2, 2002::/16.
            [0x20, 0x02, a, b, c, d, ..] if self.six_to_four => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
            _ => IpAddr::V6(v6),
        }
    }
}

fn is_client(address: IpAddr) -> bool {
    !address.is_unspecified() && !address.is_multicast() && address != IpAddr::V4(Ipv4Addr::BROADCAST)
}

// The texts below are written by hand: std's formatting took longer than reading the request. They must never change, as
// keys outlive a release.

fn push_ipv4(key: &mut KeyText, address: Ipv4Addr) {
    for (at, octet) in address.octets().into_iter().enumerate() {
        if at > 0 {
            key.push('.');
        }
        push_decimal(key, octet);
    }
}

/// The first bits of an address: all groups that they touch, and `::` for the groups that they do not.
fn push_network(key: &mut KeyText, address: Ipv6Addr, prefix: u8) {
    let host_bits = 128_u32.saturating_sub(u32::from(prefix));
    let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
    let groups = Ipv6Addr::from_bits(address.to_bits() & mask).segments();
    let kept = usize::from(prefix.div_ceil(16));
    for (at, group) in groups.into_iter().take(kept).enumerate() {
        if at > 0 {
            key.push(':');
        }
        push_hex(key, group);
    }
    key.push_str(if kept < groups.len() { "::/" } else { "/" });
    push_decimal(key, prefix);
}

fn push_decimal(key: &mut KeyText, number: u8) {
    if number >= 100 {
        push_digit(key, number / 100);
    }
    if number >= 10 {
        push_digit(key, number / 10 % 10);
    }
    push_digit(key, number % 10);
}

/// Without leading zeros.
fn push_hex(key: &mut KeyText, group: u16) {
    let [high, low] = group.to_be_bytes();
    let digits = [high >> 4, high & 15, low >> 4, low & 15];
    let zeros = digits.iter().take(3).take_while(|&&digit| digit == 0).count();
    for &digit in digits.iter().skip(zeros) {
        push_digit(key, digit);
    }
}

fn push_digit(key: &mut KeyText, digit: u8) {
    key.push(char::from(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }));
}
