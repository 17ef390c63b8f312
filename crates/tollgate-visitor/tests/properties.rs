//! What holds for every input: no panic, one text per client, and nothing forged that matters.
#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::header::{HeaderMap, HeaderName, HeaderValue};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use tollgate_visitor::{Visitor, VisitorError, VisitorSource};

const HEADERS: [&str; 4] = ["x-forwarded-for", "forwarded", "x-real-ip", "cloudfront-viewer-address"];

const SOURCES: [&str; 9] = [
    "peer",
    "header:x-real-ip peers=any",
    "header:x-real-ip peers=any allow-port prefer=x-forwarded-for nat64 6to4 prefix=33",
    "cloudfront peers=any prefix=128",
    "x-forwarded-for proxies=10.0.0.0/8 missing=local prefix=121",
    "x-forwarded-for peers=any hops=3",
    "forwarded proxies=10.0.0.0/8 missing=peer",
    "forwarded peers=any hops=2",
    "forwarded peers=any hops=32",
];

fn source(line: &str) -> VisitorSource {
    line.parse().unwrap()
}

fn headers(fields: &[(&str, &[u8])]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value).unwrap());
    }
    headers
}

/// What a key may be made of: nothing that a store's key would have to escape but the colon.
fn is_key(key: &str) -> bool {
    key == "local"
        || !key.is_empty()
            && key.len() <= 43
            && key.bytes().all(|byte| b"0123456789abcdef.:/".contains(&byte))
}

/// The bytes that an HTTP field may hold.
fn field_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(
        any::<u8>().prop_filter("a field holds no control bytes", |&byte| {
            (byte >= 32 && byte != 127) || byte == b'\t'
        }),
        0..80,
    )
}

/// Text out of the pieces that the parsers look for, so that it gets deep into them.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        vec(proptest::sample::select(b"0123456789abcdef.:,;=\"\\[]_ \tx".to_vec()), 0..6),
        proptest::sample::select(vec![
            "for=",
            "For=",
            "by=",
            "unknown",
            "_hidden",
            "203.0.113.9",
            "10.0.0.1",
            "[2001:db8::1]",
            "::ffff:",
            ":80",
            ", ",
            ";",
            "\"",
            "\\\"",
            "\u{e9}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![field_bytes(), pieces()]
}

fn any_peer() -> impl Strategy<Value = Option<IpAddr>> {
    prop_oneof![
        Just(None),
        any::<[u8; 4]>().prop_map(|v4| Some(v4.into())),
        any::<[u8; 16]>().prop_map(|v6| Some(v6.into()))
    ]
}

/// An address that may be an IPv6 client's: not mapped, not multicast, not unspecified.
fn ipv6_client() -> impl Strategy<Value = Ipv6Addr> {
    let any_bits = any::<u128>();
    let sparse = (any::<u128>(), any::<u128>(), any::<u128>()).prop_map(|(a, b, c)| a & b & c);
    prop_oneof![any_bits, sparse].prop_map(Ipv6Addr::from_bits).prop_filter("a client", |address| {
        address.to_ipv4_mapped().is_none() && !address.is_multicast() && !address.is_unspecified()
    })
}

fn peer_key(line: &str, peer: IpAddr) -> Result<String, VisitorError> {
    source(line).identify(&HeaderMap::new(), Some(peer)).map(|visitor| visitor.key().to_owned())
}

/// The first bits, one at a time: as plain as it gets.
fn masked(address: Ipv6Addr, prefix: usize) -> Ipv6Addr {
    let mut octets = address.octets();
    for bit in prefix..128 {
        octets[bit / 8] &= !(0x80 >> (bit % 8));
    }
    octets.into()
}

proptest! {
    #[test]
    fn no_header_panics_and_every_key_is_clean(
        fields in vec((proptest::sample::select(HEADERS.to_vec()), any_text()), 0..4),
        peer in any_peer(),
    ) {
        let fields: Vec<(&str, &[u8])> = fields.iter().map(|(name, value)| (*name, value.as_slice())).collect();
        let headers = headers(&fields);
        for line in SOURCES {
            if let Ok(visitor) = source(line).identify(&headers, peer) {
                prop_assert!(is_key(visitor.key()), "{} {:?}", line, visitor.key());
            }
        }
    }

    #[test]
    fn the_key_of_an_ipv6_client_is_its_network_and_reads_back(address in ipv6_client(), prefix in 32_usize..=128) {
        let key = peer_key(&format!("peer prefix={prefix}"), address.into()).unwrap();
        let (network, length) = key.split_once('/').unwrap();
        prop_assert_eq!(length, prefix.to_string());
        prop_assert_eq!(network.parse::<Ipv6Addr>().unwrap(), masked(address, prefix));
        let groups = network.trim_end_matches("::").split(':').count();
        prop_assert_eq!(groups, prefix.div_ceil(16));
    }

    #[test]
    fn one_slash_64_is_one_visitor_and_its_neighbour_another(address in ipv6_client(), host in any::<u64>(), bit in 64_u32..128) {
        let key = peer_key("peer", address.into());
        let sibling = Ipv6Addr::from_bits(address.to_bits() >> 64 << 64 | u128::from(host));
        if ipv6_is_client(sibling) {
            prop_assert_eq!(&key, &peer_key("peer", sibling.into()));
        }
        let neighbour = Ipv6Addr::from_bits(address.to_bits() ^ (1 << bit));
        if ipv6_is_client(neighbour) {
            prop_assert!(key != peer_key("peer", neighbour.into()));
        }
    }

    #[test]
    fn a_mapped_address_is_the_ipv4_client_in_every_spelling(octets in any::<[u8; 4]>()) {
        let v4 = Ipv4Addr::from(octets);
        let [high, low] = [u16::from_be_bytes([octets[0], octets[1]]), u16::from_be_bytes([octets[2], octets[3]])];
        let expected = peer_key("peer", v4.into());
        prop_assert_eq!(&expected, &peer_key("peer", v4.to_ipv6_mapped().into()));
        for text in [
            v4.to_string(),
            format!("::ffff:{v4}"),
            format!("::FFFF:{high:x}:{low:X}"),
            format!("0:0:0:0:0:ffff:{high:04x}:{low:04x}"),
        ] {
            let headers = headers(&[("x-real-ip", text.as_bytes())]);
            let found = source("header:x-real-ip peers=any").identify(&headers, None);
            prop_assert_eq!(&expected, &found.map(|visitor| visitor.key().to_owned()), "{}", text);
        }
        if let Ok(key) = expected {
            prop_assert_eq!(key, v4.to_string());
        }
    }

    #[test]
    fn what_a_client_writes_to_the_left_never_names_another(forged in any_text(), own_line in any::<bool>()) {
        for (line, header, real) in [
            ("x-forwarded-for proxies=10.0.0.0/8", "x-forwarded-for", "203.0.113.9, 10.1.1.1"),
            ("x-forwarded-for peers=any hops=2", "x-forwarded-for", "203.0.113.9, 10.1.1.1"),
            ("forwarded proxies=10.0.0.0/8", "forwarded", "for=203.0.113.9;proto=https, for=\"10.1.1.1:80\""),
            ("forwarded peers=any hops=1", "forwarded", "for=\"203.0.113.9\""),
        ] {
            let joined = [&forged[..], b", ", real.as_bytes()].concat();
            let headers = if own_line {
                headers(&[(header, &forged), (header, real.as_bytes())])
            } else {
                headers(&[(header, &joined)])
            };
            if let Ok(visitor) = source(line).identify(&headers, Some(Ipv4Addr::new(10, 0, 0, 1).into())) {
                prop_assert_eq!(visitor.key(), "203.0.113.9", "{}", line);
            }
        }
    }

    #[test]
    fn a_well_formed_forwarded_is_read_whatever_its_quotes_hold(
        texts in vec(vec(proptest::sample::select(b" \t!\"\\,;=[]_azAZ09:.for~".to_vec()), 0..12), 1..8),
        escape_all in any::<bool>(),
    ) {
        let quoted = |text: &[u8]| {
            let mut quoted = String::from("\"");
            for &byte in text {
                if escape_all || matches!(byte, b'"' | b'\\') {
                    quoted.push('\\');
                }
                quoted.push(char::from(byte));
            }
            quoted + "\""
        };
        // Each text is a host and an earlier client's claim; the last element is the proxy's.
        let mut elements: Vec<String> =
            texts.iter().map(|text| format!("for={};host={0}", quoted(text))).collect();
        elements.push(format!("host={};for={}", quoted(&texts[0]), quoted(b"[2001:db8::1]:80")));
        let headers = headers(&[("forwarded", elements.join(", ").as_bytes())]);
        for line in ["forwarded peers=any hops=1", "forwarded peers=any proxies=10.0.0.0/8"] {
            let found = source(line).identify(&headers, None);
            prop_assert_eq!(found.as_ref().map(Visitor::key), Ok("2001:db8:0:0::/64"), "{:?}", &headers);
        }
    }

    #[test]
    fn a_list_means_the_same_in_one_field_or_in_many(
        hops in vec(prop_oneof![
            Just("203.0.113.9"), Just("10.1.1.1"), Just("x"), Just(" "), Just("[2001:db8::1]:80"), Just("10.2.2.2 ")
        ], 0..40),
        hops_back in 1_usize..=4,
    ) {
        let joined = hops.join(",");
        let many: Vec<(&str, &[u8])> = hops.iter().map(|hop| ("x-forwarded-for", hop.as_bytes())).collect();
        let peer = Some(Ipv4Addr::new(10, 0, 0, 1).into());
        for line in ["x-forwarded-for proxies=10.0.0.0/8".to_owned(), format!("x-forwarded-for peers=any hops={hops_back}")] {
            let source = source(&line);
            let one = source.identify(&headers(&[("x-forwarded-for", joined.as_bytes())]), peer);
            prop_assert_eq!(&one, &source.identify(&headers(&many), peer));
            // The walk and the count again, as plainly as possible.
            let list: Vec<&str> = hops.iter().map(|hop| hop.trim()).filter(|hop| !hop.is_empty()).collect();
            let trusted = |hop: &&&str| !(line.contains("proxies") && hop.starts_with("10."));
            let expected = if list.is_empty() {
                Err(VisitorError::MissingHeader)
            } else if list.len() > 32 {
                Err(VisitorError::TooManyHops)
            } else if line.contains("hops=") {
                list.iter().rev().nth(hops_back - 1).ok_or(VisitorError::TooFewHops)
            } else {
                Ok(list.iter().rev().find(trusted).unwrap_or(&list[0]))
            };
            let expected = expected.and_then(|hop| match *hop {
                "x" => Err(VisitorError::MalformedAddress),
                "[2001:db8::1]:80" => Ok("2001:db8:0:0::/64"),
                address => Ok(address),
            });
            prop_assert_eq!(one.as_ref().map(Visitor::key).map_err(|error| *error), expected);
        }
    }
}

fn ipv6_is_client(address: Ipv6Addr) -> bool {
    address.to_ipv4_mapped().is_none() && !address.is_multicast() && !address.is_unspecified()
}
