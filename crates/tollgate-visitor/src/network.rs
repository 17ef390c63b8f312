//! Trusted networks: strict CIDR text, and the set that a peer or a hop is looked up in.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::ConfigError;

/// A range of addresses, such as `10.0.0.0/8`, `2001:db8::/32`, or the single address `192.0.2.1`.
///
/// The text is strict, because a slip here decides whom a server believes: no leading zeros, no host bits, no IPv4 length
/// on an IPv4-mapped address. A mapped network of `/96` or longer is kept as the IPv4 network that it is.
///
/// ```
/// use std::net::{IpAddr, Ipv4Addr};
/// use tollgate_visitor::Network;
///
/// let office: Network = "192.0.2.0/24".parse()?;
/// assert!(office.contains(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))));
/// assert!("192.0.2.7/24".parse::<Network>().is_err()); // host bits: what was meant?
/// # Ok::<(), tollgate_visitor::ConfigError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network(IpNet);

impl Network {
    /// This machine: `127.0.0.0/8` and `::1`.
    #[must_use]
    pub const fn loopback() -> [Self; 2] {
        [v4([127, 0, 0, 0], 8), v6(Ipv6Addr::LOCALHOST, 128)]
    }

    /// The private ranges: `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16` and `fc00::/7`.
    ///
    /// Do not trust them where clients live in them too: such a client could write the hops to its left.
    #[must_use]
    pub const fn private() -> [Self; 4] {
        [
            v4([10, 0, 0, 0], 8),
            v4([172, 16, 0, 0], 12),
            v4([192, 168, 0, 0], 16),
            v6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7),
        ]
    }

    /// Reads networks separated by white space or commas, as providers publish theirs: one a line.
    ///
    /// # Errors
    /// The first text that is no network, as [`FromStr`] reports it. An empty text is an empty list.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, ConfigError> {
        text.split(|c: char| c == ',' || c.is_ascii_whitespace())
            .filter(|word| !word.is_empty())
            .map(str::parse)
            .collect()
    }

    /// Whether the address is in the range. An IPv4-mapped address counts as the IPv4 address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for Network {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let invalid = || ConfigError::InvalidCidr { text: text.to_owned() };
        // ipnet's own parser takes leading zeros, host bits and mapped ranges of any length; std's takes none of them.
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let length = length.map_or(Some(whole), prefix_length).ok_or_else(invalid)?;
        let (address, length) = match address.to_canonical() {
            IpAddr::V4(v4) if address.is_ipv6() => {
                let length = length
                    .checked_sub(96)
                    .ok_or_else(|| ConfigError::MappedPrefix { text: text.to_owned() })?;
                (IpAddr::V4(v4), length)
            }
            address => (address, length),
        };
        let network = IpNet::new(address, length).map_err(|_| invalid())?;
        if network == network.trunc() { Ok(Self(network)) } else { Err(invalid()) }
    }
}

impl TryFrom<&str> for Network {
    type Error = ConfigError;

    fn try_from(text: &str) -> Result<Self, ConfigError> {
        text.parse()
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical().into())
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A set of networks that does not hold everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Networks(Box<[Network]>);

impl Networks {
    /// Merges the networks, then refuses a set that holds a whole family, however it is cut into pieces.
    pub(crate) fn new(networks: &[Network]) -> Result<Self, ConfigError> {
        let networks: Vec<IpNet> = networks.iter().map(|network| network.0).collect();
        let merged = IpNet::aggregate(&networks);
        if merged.iter().any(holds_everybody) {
            return Err(ConfigError::TrustsEverything);
        }
        Ok(Self(merged.into_iter().map(Network).collect()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// For IPv6 the global unicast range is everybody: the rest of the family has no clients on the internet.
fn holds_everybody(network: &IpNet) -> bool {
    match network {
        IpNet::V4(network) => network.prefix_len() == 0,
        IpNet::V6(network) => network.contains(&GLOBAL_UNICAST),
    }
}

const GLOBAL_UNICAST: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Decimal digits without a sign or a leading zero; the upper bound is the family's, checked with the address.
fn prefix_length(text: &str) -> Option<u8> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    if canonical { text.parse().ok() } else { None }
}

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> Network {
    Network(IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)))
}

const fn v6(address: Ipv6Addr, length: u8) -> Network {
    Network(IpNet::V6(Ipv6Net::new_assert(address, length)))
}

#[cfg(test)]
mod tests {
    use super::{Network, Networks};

    fn parse(text: &str) -> Result<String, &'static str> {
        text.parse::<Network>().map(|network| network.to_string()).map_err(|error| error.kind())
    }

    #[test]
    fn only_the_strict_text_is_a_network() {
        let same = |text: &'static str| (text, Ok(text));
        let rows = [
            same("10.0.0.0/8"),
            same("192.0.2.0/24"),
            same("192.0.2.7/32"),
            same("0.0.0.0/0"),
            same("0.0.0.0/1"),
            same("2001:db8::/32"),
            same("::/0"),
            same("::1/128"),
            ("192.0.2.7", Ok("192.0.2.7/32")),
            ("2001:DB8:0::7", Ok("2001:db8::7/128")),
            ("::ffff:192.0.2.7", Ok("192.0.2.7/32")),
            ("::ffff:10.0.0.0/104", Ok("10.0.0.0/8")),
            ("::ffff:a00:0/104", Ok("10.0.0.0/8")),
            ("::ffff:0:0/96", Ok("0.0.0.0/0")),
            ("::ffff:0:0/95", Err("mapped_prefix")),
            ("::ffff:10.0.0.0/8", Err("mapped_prefix")),
            ("::ffff:10.0.0.1/104", Err("invalid_cidr")),
            ("10.0.0.5/8", Err("invalid_cidr")),
            ("2001:db8::1/32", Err("invalid_cidr")),
            ("10.0.0.0/33", Err("invalid_cidr")),
            ("2001:db8::/129", Err("invalid_cidr")),
            ("::ffff:10.0.0.0/129", Err("invalid_cidr")),
            ("10.0.0.0/256", Err("invalid_cidr")),
            ("10.0.0.0/", Err("invalid_cidr")),
            ("10.0.0.0/+8", Err("invalid_cidr")),
            ("10.0.0.0/-8", Err("invalid_cidr")),
            ("10.0.0.0/08", Err("invalid_cidr")),
            ("10.0.0.0/00", Err("invalid_cidr")),
            ("10.0.0.0/ 8", Err("invalid_cidr")),
            (" 10.0.0.0/8", Err("invalid_cidr")),
            ("10.0.0.0/8/8", Err("invalid_cidr")),
            ("10.0.0.0/255.0.0.0", Err("invalid_cidr")),
            ("010.0.0.0/8", Err("invalid_cidr")),
            ("10/8", Err("invalid_cidr")),
            ("10.0.0/24", Err("invalid_cidr")),
            ("fe80::1%1", Err("invalid_cidr")),
            ("[2001:db8::]/32", Err("invalid_cidr")),
            ("localhost", Err("invalid_cidr")),
            ("", Err("invalid_cidr")),
        ];
        for (text, network) in rows {
            assert_eq!(parse(text), network.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn an_invalid_network_is_shown_as_it_was_given() {
        let error = "10.0.0.5/8".parse::<Network>().unwrap_err();
        assert!(error.to_string().starts_with("`10.0.0.5/8` is no network"), "{error}");
        let error = "::ffff:10.0.0.0/8".parse::<Network>().unwrap_err();
        assert!(error.to_string().starts_with("`::ffff:10.0.0.0/8` is an IPv4-mapped"), "{error}");
    }

    #[test]
    fn a_list_may_be_a_providers_file() {
        let list = Network::parse_list("\n192.0.2.0/24\r\n\t2001:db8::/32, 198.51.100.1,\n").unwrap();
        assert_eq!(format!("{list:?}"), "[192.0.2.0/24, 2001:db8::/32, 198.51.100.1/32]");
        assert_eq!(Network::parse_list(" ,\n"), Ok(Vec::new()));
        assert_eq!(Network::parse_list("192.0.2.0/24 x").unwrap_err().kind(), "invalid_cidr");
    }

    #[test]
    fn the_named_ranges_are_these() {
        assert_eq!(format!("{:?}", Network::loopback()), "[127.0.0.0/8, ::1/128]");
        assert_eq!(
            format!("{:?}", Network::private()),
            "[10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7]"
        );
    }

    #[test]
    fn a_network_holds_its_first_and_last_address_in_either_family() {
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(holds("192.0.2.128/25", "192.0.2.128") && holds("192.0.2.128/25", "192.0.2.255"));
        assert!(!holds("192.0.2.128/25", "192.0.2.127") && !holds("192.0.2.128/25", "192.0.3.0"));
        assert!(holds("192.0.2.128/25", "::ffff:192.0.2.200") && !holds("192.0.2.128/25", "::192.0.2.200"));
        assert!(holds("2001:db8:4000::/34", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"));
        assert!(!holds("2001:db8:4000::/34", "2001:db8:8000::"));
        assert!(!holds("::/8", "::ffff:192.0.2.1"), "an IPv4 client is in no IPv6 network");
        let host = Network::from("::ffff:192.0.2.1".parse::<std::net::IpAddr>().unwrap());
        assert_eq!(host.to_string(), "192.0.2.1/32");
    }

    #[test]
    fn a_set_refuses_to_hold_everybody_however_it_is_cut() {
        let set =
            |list: &str| Networks::new(&Network::parse_list(list).unwrap()).map_err(|error| error.kind());
        for list in [
            "0.0.0.0/0",
            "::/0",
            "::ffff:0:0/96",
            "10.0.0.0/8 0.0.0.0/1 128.0.0.0/1",
            "0.0.0.0/2 64.0.0.0/2 128.0.0.0/2 192.0.0.0/2",
            "2000::/3",
            "2000::/4 3000::/4",
            "::/1",
            "::/2",
        ] {
            assert_eq!(set(list), Err("trusts_everything"), "{list}");
        }
        for list in ["0.0.0.0/1", "128.0.0.0/1", "8000::/1", "2000::/4", "2001::/16 10.0.0.0/8", "fc00::/7"] {
            assert!(!set(list).unwrap().is_empty(), "{list}");
        }
        assert!(set("").unwrap().is_empty());
        let set = set("10.0.0.0/8 2001:db8::/32").unwrap();
        let holds = |address: &str| set.contains(address.parse().unwrap());
        assert!(holds("10.1.1.1") && holds("::ffff:10.1.1.1") && holds("2001:db8::1"));
        assert!(!holds("11.1.1.1") && !holds("2001:db9::1"));
    }
}
