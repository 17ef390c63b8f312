//! From an address to a visitor: unwrap, refuse, cut, and hash where asked.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[cfg(feature = "hash")]
use crate::hash::KeyedHash;
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
        let visitor = match address {
            IpAddr::V4(address) => Visitor::from_text(format_args!("{address}")),
            IpAddr::V6(address) => Visitor::from_text(format_args!(
                "{}",
                Cut {
                    address,
                    prefix: self.ipv6_prefix
                }
            )),
        };
        #[cfg(feature = "hash")]
        if let Some(hash) = &self.hash {
            return Ok(hash.visitor(visitor.key()));
        }
        Ok(visitor)
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

/// The network part of an IPv6 address, in the one text form that keys use: it must never change, as keys outlive
/// a release.
struct Cut {
    address: Ipv6Addr,
    prefix: u8,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host_bits = 128_u32.saturating_sub(u32::from(self.prefix));
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        let groups = Ipv6Addr::from_bits(self.address.to_bits() & mask).segments();
        let kept = usize::from(self.prefix.div_ceil(16)).min(groups.len());
        for (at, group) in groups.iter().take(kept).enumerate() {
            if at > 0 {
                f.write_str(":")?;
            }
            write!(f, "{group:x}")?;
        }
        let rest = if kept < groups.len() { "::" } else { "" };
        write!(f, "{rest}/{}", self.prefix)
    }
}
