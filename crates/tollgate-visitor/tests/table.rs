//! Requests and what they come to, as rows: a source in its text form, the peer, the headers, the key or the error.
#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

use std::net::IpAddr;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use tollgate_visitor::{MAX_HEADER_BYTES, MAX_HOPS, VisitorSource};

type Outcome = Result<String, &'static str>;
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Result<&'a str, &'static str>, &'a str);

fn identify(source: &str, peer: &str, fields: &[(&str, &str)]) -> Outcome {
    let source: VisitorSource = source.parse().unwrap();
    let peer: Option<IpAddr> = if peer.is_empty() { None } else { Some(peer.parse().unwrap()) };
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    match source.identify(&headers, peer) {
        Ok(visitor) => Ok(visitor.key().to_owned()),
        Err(error) => Err(error.kind()),
    }
}

fn check(source: &str, rows: &[Row<'_>]) {
    for (peer, fields, expected, why) in rows {
        assert_eq!(
            identify(source, peer, fields),
            expected.map(str::to_owned),
            "{why}: {source} {peer} {fields:?}"
        );
    }
}

/// One value in the source's only header, from a trusted peer.
fn check_values(source: &str, header: &str, rows: &[(&str, Result<&str, &'static str>)]) {
    for (value, expected) in rows {
        let found = identify(source, "10.0.0.1", &[(header, value)]);
        assert_eq!(found, expected.map(str::to_owned), "{source} {value:?}");
    }
}

const MALFORMED: Result<&str, &str> = Err("malformed_address");
const NO_CLIENT: Result<&str, &str> = Err("not_a_client_address");

#[test]
fn a_single_header_holds_one_strict_address() {
    check_values(
        "header:x-real-ip peers=any",
        "x-real-ip",
        &[
            ("203.0.113.7", Ok("203.0.113.7")),
            (" \t203.0.113.7\t ", Ok("203.0.113.7")),
            ("255.255.255.254", Ok("255.255.255.254")),
            ("2001:db8::1", Ok("2001:db8:0:0::/64")),
            ("2001:db8:0:0::", Ok("2001:db8:0:0::/64")),
            ("2001:db8::1:443", Ok("2001:db8:0:0::/64")),
            ("fec0:1:2:3:4:5:6:7", Ok("fec0:1:2:3::/64")),
            ("fe80::1", Ok("fe80:0:0:0::/64")),
            ("fd00::1", Ok("fd00:0:0:0::/64")),
            ("127.0.0.1", Ok("127.0.0.1")),
            ("10.1.2.3", Ok("10.1.2.3")),
            ("0.0.0.1", Ok("0.0.0.1")),
            ("::ffff:cb00:7109", Ok("203.0.113.9")),
            ("0000:0000:0000:0000:0000:FFFF:CB00:7109", Ok("203.0.113.9")),
            ("::fffe:203.0.113.9", Ok("0:0:0:0::/64")),
            ("64:ff9b::203.0.113.9", Ok("64:ff9b:0:0::/64")),
            ("::", NO_CLIENT),
            ("0.0.0.0", NO_CLIENT),
            ("::ffff:0.0.0.0", NO_CLIENT),
            ("224.0.0.1", NO_CLIENT),
            ("239.255.255.255", NO_CLIENT),
            ("::ffff:224.0.0.1", NO_CLIENT),
            ("ff02::1", NO_CLIENT),
            ("255.255.255.255", NO_CLIENT),
            ("", MALFORMED),
            (" \t ", MALFORMED),
            ("203.0.113.7.", MALFORMED),
            (".203.0.113.7", MALFORMED),
            ("203.0.113", MALFORMED),
            ("203.0.113.7.1", MALFORMED),
            ("203.0.113.256", MALFORMED),
            ("203.0.113.-7", MALFORMED),
            ("127.1", MALFORMED),
            ("2130706433", MALFORMED),
            ("0x7f.0.0.1", MALFORMED),
            ("0177.0.0.1", MALFORMED),
            ("203.0.113.7/32", MALFORMED),
            ("203.0.113.7 203.0.113.8", MALFORMED),
            ("203.0. 113.7", MALFORMED),
            ("203.0.113.7;", MALFORMED),
            ("203.0.113.7:443", MALFORMED),
            ("[2001:db8::1]", MALFORMED),
            ("[2001:db8::1]:443", MALFORMED),
            ("2001:db8:1:2:3:4:5:6:7", MALFORMED),
            ("2001:db8:00001::1", MALFORMED),
            ("2001:db8:::1", MALFORMED),
            ("2001::db8::1", MALFORMED),
            ("2001:db8:1:2:3:4:5:", MALFORMED),
            (":2001:db8::1", MALFORMED),
            ("2001:db8::g", MALFORMED),
            ("2001:db8:1:2:3:4:5:192.0.2.1", MALFORMED),
            ("2001:db8::192.0.2.01", MALFORMED),
            ("fe80::1%1", MALFORMED),
            ("local", MALFORMED),
            ("localhost", MALFORMED),
            ("a.b.c.d", MALFORMED),
            ("\"203.0.113.7\"", MALFORMED),
            ("_hidden", MALFORMED),
            ("for=203.0.113.7", MALFORMED),
            ("203.0.113.7,", Err("list_not_allowed")),
            (",", Err("list_not_allowed")),
            ("unknown, 203.0.113.7", Err("list_not_allowed")),
            ("203.0.113.\u{ff17}", Err("not_ascii")),
            ("\u{a0}203.0.113.7", Err("not_ascii")),
            ("203.0.113.7\u{e9}, 1", Err("not_ascii")),
        ],
    );
}

#[test]
fn a_header_is_found_by_its_name_alone_and_once() {
    check(
        "cloudflare peers=any missing=local",
        &[
            ("", &[("CF-CONNECTING-IP", "203.0.113.7")], Ok("203.0.113.7"), "names have no case"),
            (
                "",
                &[("CF-Connecting-IP", "203.0.113.7"), ("cf-connecting-ip", "203.0.113.8")],
                Err("repeated_header"),
                "two spellings are one field",
            ),
            (
                "",
                &[("CF-Connecting-IP", "203.0.113.7"), ("CF-Connecting-IP", "203.0.113.7")],
                Err("repeated_header"),
                "even when both say the same",
            ),
            (
                "",
                &[("CF-Connecting-IP", "203.0.113.7"), ("CF-Connecting-IP", "")],
                Err("repeated_header"),
                "or one says nothing",
            ),
            ("", &[], Ok("local"), "development"),
            ("192.0.2.1", &[("x-real-ip", "203.0.113.7")], Ok("local"), "no other header"),
            ("", &[("CF-Connecting-IP", "local")], MALFORMED, "nobody can claim the word"),
            (
                "",
                &[("CF-Connecting-IP", "2a06:98c0:3600::103")],
                Err("shared_address"),
                "a Worker of another zone is nobody",
            ),
            (
                "",
                &[("CF-Connecting-IP", "2a06:98c0:3600::104")],
                Ok("2a06:98c0:3600:0::/64"),
                "only that one",
            ),
            (
                "",
                &[("CF-Connecting-IP", "240.16.0.1"), ("CF-Connecting-IPv6", "2001:db8:7:8::9")],
                Ok("240.16.0.1"),
                "another header counts only where configured",
            ),
        ],
    );
    check(
        "cloudflare peers=any shared=none",
        &[(
            "",
            &[("CF-Connecting-IP", "2a06:98c0:3600::103")],
            Ok("2a06:98c0:3600:0::/64"),
            "the list is a choice",
        )],
    );
    for (source, header) in [
        ("vercel", "x-vercel-forwarded-for"),
        ("fly", "fly-client-ip"),
        ("cloudflare", "cf-connecting-ip"),
        ("header:X-Azure-SocketIP", "x-azure-socketip"),
    ] {
        let found = identify(&format!("{source} peers=any"), "", &[(header, "203.0.113.7")]);
        assert_eq!(found.as_deref(), Ok("203.0.113.7"), "{source}");
    }
}

#[test]
fn a_preferred_header_goes_first_and_by_the_same_rules() {
    check(
        "cloudflare peers=any prefer=cf-connecting-ipv6",
        &[
            (
                "",
                &[("CF-Connecting-IPv6", "2001:db8::1"), ("CF-Connecting-IP", "240.0.0.1")],
                Ok("2001:db8:0:0::/64"),
                "",
            ),
            (
                "",
                &[("CF-Connecting-IP", "203.0.113.7")],
                Ok("203.0.113.7"),
                "an IPv4 client has no such header",
            ),
            (
                "",
                &[("CF-Connecting-IPv6", "x"), ("CF-Connecting-IP", "240.0.0.1")],
                MALFORMED,
                "no falling back",
            ),
            (
                "",
                &[("CF-Connecting-IPv6", ""), ("CF-Connecting-IP", "240.0.0.1")],
                MALFORMED,
                "empty is not absent",
            ),
            ("", &[], Err("missing_header"), ""),
        ],
    );
}

#[test]
fn an_untrusted_peer_is_the_visitor_or_is_rejected() {
    let claim = [("CF-Connecting-IP", "203.0.113.7")];
    let rows: &[Row<'_>] = &[
        ("198.51.100.255", &claim, Ok("203.0.113.7"), "last address of the network"),
        ("2001:db8:cf:ffff::1", &claim, Ok("203.0.113.7"), "trusted IPv6 network"),
        ("::ffff:198.51.100.20", &claim, Ok("203.0.113.7"), "mapped peer"),
        ("198.51.100.20", &[], Err("missing_header"), "trusted, and no header"),
        ("", &claim, Err("no_peer_address"), "trust needs a peer"),
        ("", &[], Err("no_peer_address"), "with or without the header"),
    ];
    check("cloudflare peers=198.51.100.0/24,2001:db8:cf::/48", rows);
    check("cloudflare peers=198.51.100.0/24,2001:db8:cf::/48 untrusted=reject", rows);
    check("cloudflare peers=::ffff:198.51.100.0/120,2001:db8:cf::/48", rows);
    let untrusted: &[Row<'_>] = &[
        ("203.0.113.66", &claim, Ok("203.0.113.66"), "came around the proxy"),
        ("::ffff:203.0.113.66", &claim, Ok("203.0.113.66"), "mapped"),
        ("2001:db8:ce::1", &claim, Ok("2001:db8:ce:0::/64"), "the neighbour of a trusted network"),
        ("198.51.101.0", &[], Ok("198.51.101.0"), "a missing header does not matter then"),
        ("203.0.113.66", &[("CF-Connecting-IP", "garbage")], Ok("203.0.113.66"), "nor does a bad one"),
    ];
    check("cloudflare peers=198.51.100.0/24,2001:db8:cf::/48", untrusted);
    check("cloudflare peers=198.51.100.0/24,2001:db8:cf::/48 missing=local", untrusted);
    for (peer, fields, ..) in untrusted {
        let found =
            identify("cloudflare peers=198.51.100.0/24,2001:db8:cf::/48 untrusted=reject", peer, fields);
        assert_eq!(found, Err("untrusted_peer"), "{peer} {fields:?}");
    }
}

#[test]
fn a_missing_header_means_what_was_chosen() {
    for source in ["vercel peers=any", "x-forwarded-for peers=any hops=1", "forwarded peers=any hops=1"] {
        for (missing, peer, expected) in [
            ("", "192.0.2.1", Err("missing_header")),
            ("missing=error", "192.0.2.1", Err("missing_header")),
            ("missing=error", "", Err("missing_header")),
            ("missing=local", "192.0.2.1", Ok("local".to_owned())),
            ("missing=local", "", Ok("local".to_owned())),
            ("missing=peer", "192.0.2.1", Ok("192.0.2.1".to_owned())),
            ("missing=peer", "::ffff:192.0.2.1", Ok("192.0.2.1".to_owned())),
            ("missing=peer", "", Err("no_peer_address")),
        ] {
            assert_eq!(identify(&format!("{source} {missing}"), peer, &[]), expected, "{source} {missing}");
        }
    }
}

#[test]
fn the_peer_alone_ignores_all_headers() {
    let forged =
        [("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1"), ("CF-Connecting-IP", "x")];
    check(
        "peer",
        &[
            ("203.0.113.5", &forged, Ok("203.0.113.5"), ""),
            ("::1", &forged, Ok("0:0:0:0::/64"), ""),
            ("::ffff:10.0.0.1", &forged, Ok("10.0.0.1"), ""),
            ("0.0.0.0", &forged, NO_CLIENT, "not even a peer calls from there"),
            ("", &forged, Err("no_peer_address"), ""),
        ],
    );
}

#[test]
fn ports_are_cut_where_they_are_allowed() {
    let rows = [
        ("203.0.113.7", Ok("203.0.113.7")),
        ("203.0.113.7:0", Ok("203.0.113.7")),
        ("203.0.113.7:65535", Ok("203.0.113.7")),
        ("203.0.113.7:00080", Ok("203.0.113.7")),
        ("[2001:db8::1]", Ok("2001:db8:0:0::/64")),
        ("[2001:db8::1]:8080", Ok("2001:db8:0:0::/64")),
        ("[::ffff:203.0.113.7]:8080", Ok("203.0.113.7")),
        ("2001:db8::1", Ok("2001:db8:0:0::/64")),
        ("2001:db8:1:2:3:4:5:6", Ok("2001:db8:1:2::/64")),
        ("203.0.113.7:", MALFORMED),
        ("203.0.113.7:65536", MALFORMED),
        ("203.0.113.7:000080", MALFORMED),
        ("203.0.113.7:+80", MALFORMED),
        ("203.0.113.7:-1", MALFORMED),
        ("203.0.113.7:http", MALFORMED),
        ("203.0.113.7:80:80", MALFORMED),
        ("203.0.113.7 :80", MALFORMED),
        (":80", MALFORMED),
        ("2001:db8:1:2:3:4:5:6:443", MALFORMED),
        ("[2001:db8::1", MALFORMED),
        ("2001:db8::1]", MALFORMED),
        ("2001:db8::1]:80", MALFORMED),
        ("[2001:db8::1]80", MALFORMED),
        ("[2001:db8::1]:", MALFORMED),
        ("[2001:db8::1]:x", MALFORMED),
        ("[2001:db8::1]:_x", MALFORMED),
        ("[2001:db8::1]:65536", MALFORMED),
        ("[[2001:db8::1]]", MALFORMED),
        ("[203.0.113.7]:80", MALFORMED),
        ("[]", MALFORMED),
        ("[fe80::1%1]:80", MALFORMED),
    ];
    check_values("header:x-client peers=any allow-port", "x-client", &rows);
    check_values("x-forwarded-for peers=any hops=1", "x-forwarded-for", &rows);
    check_values("x-forwarded-for proxies=10.0.0.0/8", "x-forwarded-for", &rows);
}

#[test]
fn cloudfront_always_ends_in_a_port_and_has_no_brackets() {
    check_values(
        "cloudfront peers=any",
        "cloudfront-viewer-address",
        &[
            ("203.0.113.7:46532", Ok("203.0.113.7")),
            ("2001:db8::1:46532", Ok("2001:db8:0:0::/64")),
            ("2001:db8:1:2:3:4:5:6:1", Ok("2001:db8:1:2::/64")),
            ("::ffff:203.0.113.7:46532", Ok("203.0.113.7")),
            ("203.0.113.7:", MALFORMED),
            ("203.0.113.7:65536", MALFORMED),
            ("[2001:db8::1]:46532", MALFORMED),
            ("2001:db8:1:2:3:4:5:6", MALFORMED),
            ("2001:db8:1:2:3:4:5:ffff", MALFORMED),
            ("203.0.113.7", MALFORMED),
            ("", MALFORMED),
            ("203.0.113.7:1, 203.0.113.8:2", Err("list_not_allowed")),
        ],
    );
}

#[test]
fn the_walk_stops_at_the_first_untrusted_hop() {
    check_values(
        "x-forwarded-for proxies=10.0.0.0/8,198.51.100.0/24,2001:db8:cf::/48 missing=peer",
        "x-forwarded-for",
        &[
            ("203.0.113.9", Ok("203.0.113.9")),
            ("garbage, 203.0.113.9", Ok("203.0.113.9")),
            ("\u{e9}, 203.0.113.9", Ok("203.0.113.9")),
            ("unknown, 203.0.113.9, 198.51.100.7, 10.1.1.1", Ok("203.0.113.9")),
            ("10.9.9.9, 203.0.113.9, 10.1.1.1", Ok("203.0.113.9")),
            ("203.0.113.9, ::ffff:10.1.1.1", Ok("203.0.113.9")),
            ("203.0.113.9, 10.1.1.1:443", Ok("203.0.113.9")),
            ("203.0.113.9, [2001:db8:cf::1]:443", Ok("203.0.113.9")),
            ("203.0.113.9, 2001:db8:ce::1", Ok("2001:db8:ce:0::/64")),
            ("203.0.113.9,", Ok("203.0.113.9")),
            (",, ,203.0.113.9,\t, ", Ok("203.0.113.9")),
            ("\t203.0.113.9\t,\t10.1.1.1\t", Ok("203.0.113.9")),
            ("10.3.3.3, 10.2.2.2, 10.1.1.1", Ok("10.3.3.3")),
            (", ,", Ok("10.0.0.1")),
            ("203.0.113.9, garbage, 10.1.1.1", MALFORMED),
            ("203.0.113.9, 10.1.1.1, garbage", MALFORMED),
            ("garbage, 10.1.1.1", MALFORMED),
            ("203.0.113.9 10.1.1.1", MALFORMED),
            ("203.0.113.9; 10.1.1.1", MALFORMED),
            ("203.0.113.9, \u{e9}", Err("not_ascii")),
            ("203.0.113.9, \u{a0}", Err("not_ascii")),
            ("203.0.113.9, 0.0.0.0, 10.1.1.1", NO_CLIENT),
        ],
    );
}

#[test]
fn repeated_lists_are_one_list_in_order() {
    let fields = |values: &'static [&'static str]| {
        values.iter().map(|value| ("X-Forwarded-For", *value)).collect::<Vec<_>>()
    };
    let walk = |values| identify("x-forwarded-for proxies=10.0.0.0/8", "10.0.0.1", &fields(values));
    let second = |values| identify("x-forwarded-for peers=any hops=2", "10.0.0.1", &fields(values));
    assert_eq!(walk(&["192.0.2.66", "203.0.113.9", "10.1.1.1"]).as_deref(), Ok("203.0.113.9"));
    assert_eq!(walk(&["203.0.113.9, 10.1.1.1", "", ","]).as_deref(), Ok("203.0.113.9"));
    assert_eq!(second(&["192.0.2.66, 203.0.113.9", "198.51.100.7"]).as_deref(), Ok("203.0.113.9"));
    assert_eq!(second(&["203.0.113.9", "", "198.51.100.7"]).as_deref(), Ok("203.0.113.9"));
    assert_eq!(second(&["", "203.0.113.9"]), Err("too_few_hops"));
}

#[test]
fn the_count_takes_that_entry_and_no_other() {
    check_values(
        "x-forwarded-for peers=any hops=3 missing=peer",
        "x-forwarded-for",
        &[
            ("192.0.2.1, 192.0.2.2, 192.0.2.3, 192.0.2.4", Ok("192.0.2.2")),
            ("192.0.2.1, 192.0.2.2, 192.0.2.3", Ok("192.0.2.1")),
            ("192.0.2.1, x, y", Ok("192.0.2.1")),
            ("x, 192.0.2.1, 192.0.2.2", MALFORMED),
            ("192.0.2.1, 192.0.2.2", Err("too_few_hops")),
            ("192.0.2.1, 192.0.2.2, ", Err("too_few_hops")),
            ("", Ok("10.0.0.1")),
        ],
    );
    check_values(
        "forwarded peers=any hops=2",
        "forwarded",
        &[
            ("for=192.0.2.1, for=192.0.2.2, for=unknown", Ok("192.0.2.2")),
            ("for=192.0.2.1, for=192.0.2.2", Ok("192.0.2.1")),
            ("for=192.0.2.1", Err("too_few_hops")),
        ],
    );
}

#[test]
fn thirty_two_hops_are_read_and_thirty_three_are_not() {
    let list = |first: &str, other: &str, count: usize| {
        std::iter::once(first).chain(std::iter::repeat_n(other, count - 1)).collect::<Vec<_>>().join(", ")
    };
    for (source, header, client, proxy) in [
        ("x-forwarded-for proxies=10.0.0.0/8", "x-forwarded-for", "203.0.113.9", "10.1.1.1"),
        ("forwarded proxies=10.0.0.0/8", "forwarded", "for=203.0.113.9", "for=10.1.1.1"),
        ("x-forwarded-for hops=32 peers=any", "x-forwarded-for", "203.0.113.9", "10.1.1.1"),
        ("forwarded hops=32 peers=any", "forwarded", "for=203.0.113.9", "for=10.1.1.1"),
    ] {
        let found = |count| identify(source, "10.0.0.1", &[(header, &list(client, proxy, count))]);
        assert_eq!(found(MAX_HOPS).as_deref(), Ok("203.0.113.9"), "{source}");
        assert_eq!(found(MAX_HOPS + 1), Err("too_many_hops"), "{source}");
        // Also when the client's hop is the last one, and when the lists are apart.
        let forged = list(client, client, MAX_HOPS);
        assert_eq!(
            identify(source, "10.0.0.1", &[(header, &forged)]).as_deref(),
            Ok("203.0.113.9"),
            "{source}"
        );
        let twice = [(header, forged.as_str()), (header, client)];
        assert_eq!(identify(source, "10.0.0.1", &twice), Err("too_many_hops"), "{source}");
    }
    assert_eq!(MAX_HOPS, 32);
}

#[test]
fn the_header_is_read_up_to_8192_bytes() {
    for (source, header, client) in [
        ("header:x-real-ip peers=any", "x-real-ip", "203.0.113.9"),
        ("x-forwarded-for proxies=10.0.0.0/8", "x-forwarded-for", "203.0.113.9"),
        ("forwarded proxies=10.0.0.0/8", "forwarded", "for=203.0.113.9"),
    ] {
        let padded = |bytes: usize| format!("{client:>bytes$}");
        assert_eq!(
            identify(source, "10.0.0.1", &[(header, &padded(8192))]).as_deref(),
            Ok("203.0.113.9"),
            "{source}"
        );
        assert_eq!(
            identify(source, "10.0.0.1", &[(header, &padded(8193))]),
            Err("header_too_long"),
            "{source}"
        );
    }
    // Together, not each.
    let half = format!("{:>4096}", "192.0.2.1");
    let rows = |rest| [("x-forwarded-for", half.as_str()), ("x-forwarded-for", rest)];
    let source = "x-forwarded-for peers=any hops=1";
    assert_eq!(identify(source, "", &rows(&half)).as_deref(), Ok("192.0.2.1"));
    assert_eq!(identify(source, "", &rows(&format!(" {half}"))), Err("header_too_long"));
    assert_eq!(MAX_HEADER_BYTES, 8192);
}

#[test]
fn forwarded_is_read_by_its_grammar() {
    let bad = Err("malformed_forwarded");
    let unknown = Err("unknown_identifier");
    let hidden = Err("obfuscated_identifier");
    check_values(
        "forwarded proxies=10.0.0.0/8 missing=peer",
        "forwarded",
        &[
            ("for=203.0.113.9", Ok("203.0.113.9")),
            ("FOR=203.0.113.9", Ok("203.0.113.9")),
            ("for=\"203.0.113.9\"", Ok("203.0.113.9")),
            ("for=\"203.0.113.9:80\"", Ok("203.0.113.9")),
            ("for=\"203.0.113.9:_a.B-9_\"", Ok("203.0.113.9")),
            ("for=\"2\\03.0.113\\.9\"", Ok("203.0.113.9")),
            ("for=\"\\[2001:db8::9\\]\"", Ok("2001:db8:0:0::/64")),
            ("for=\"[2001:db8::9]:_x\"", Ok("2001:db8:0:0::/64")),
            ("for=\"[::ffff:203.0.113.9]\"", Ok("203.0.113.9")),
            ("for=203.0.113.9;", Ok("203.0.113.9")),
            (";for=203.0.113.9;;by=_x", Ok("203.0.113.9")),
            ("proto=https;for=203.0.113.9;host=\"a,b;c=\\\"d\"", Ok("203.0.113.9")),
            ("secret=\"\";for=203.0.113.9", Ok("203.0.113.9")),
            ("!#$%&'*+-.^_`|~09azAZ=x;for=203.0.113.9", Ok("203.0.113.9")),
            ("for=203.0.113.9,", Ok("203.0.113.9")),
            (",, \t,for=203.0.113.9 \t, ,", Ok("203.0.113.9")),
            ("for=203.0.113.9 ,\tfor=10.1.1.1", Ok("203.0.113.9")),
            ("for=203.0.113.9, for=\"[::ffff:10.1.1.1]:80\"", Ok("203.0.113.9")),
            ("for=10.2.2.2, for=10.1.1.1", Ok("10.2.2.2")),
            ("for=\"a\\\"b, for=192.0.2.66\", for=203.0.113.9", Ok("203.0.113.9")),
            ("for=\"a\\\\\", for=203.0.113.9", Ok("203.0.113.9")),
            ("for=_x, for=203.0.113.9", Ok("203.0.113.9")),
            ("proto=http, for=203.0.113.9", Ok("203.0.113.9")),
            ("", Ok("10.0.0.1")),
            (" , ,", Ok("10.0.0.1")),
            // What has to be read and names nobody.
            ("for=unknown", unknown),
            ("for=UnKnown", unknown),
            ("for=\"unknown:80\"", unknown),
            ("for=192.0.2.66, proto=https", unknown),
            ("for=192.0.2.66, ;", unknown),
            ("for=192.0.2.66, for=_gazonk", hidden),
            ("for=\"_gazonk:80\"", hidden),
            ("for=\"_a.B-9_:_x\"", hidden),
            ("for=\"unknown:x\"", MALFORMED),
            ("for=\"_gazonk:\"", MALFORMED),
            ("for=_", MALFORMED),
            ("for=_a!b", MALFORMED),
            ("for=\"_a b\"", MALFORMED),
            ("for=\"\"", MALFORMED),
            ("for=\" 203.0.113.9\"", MALFORMED),
            ("for=\"203.0.113.9, for=10.1.1.1\"", MALFORMED),
            ("for=\"203.0.113.9:\"", MALFORMED),
            ("for=\"203.0.113.9:65536\"", MALFORMED),
            ("for=\"203.0.113.9:80:80\"", MALFORMED),
            ("for=\"203.0.113.9:_\"", MALFORMED),
            ("for=\"203.0.113.9:x\"", MALFORMED),
            ("for=\"2001:db8::9\"", MALFORMED),
            ("for=\"[203.0.113.9]\"", MALFORMED),
            ("for=\"[2001:db8::9\"", MALFORMED),
            ("for=\"[2001:db8::9]x\"", MALFORMED),
            ("for=\"[unknown]\"", MALFORMED),
            ("for=010.0.0.1", MALFORMED),
            ("for=local", MALFORMED),
            ("for=\"\\\\203.0.113.9\"", MALFORMED),
            ("for=\"[::]\"", NO_CLIENT),
            // Malformed anywhere: nothing of it counts.
            ("for=203.0.113.9:80", bad),
            ("for=[2001:db8::9]", bad),
            ("for=", bad),
            ("for", bad),
            ("=203.0.113.9", bad),
            ("203.0.113.9", bad),
            ("for =203.0.113.9", bad),
            ("for= 203.0.113.9", bad),
            ("for=203.0.113.9 ;proto=http", bad),
            ("for=203.0.113.9; proto=http", bad),
            ("for=203.0.113.9 for=10.1.1.1", bad),
            ("for=\"203.0.113.9\"x", bad),
            ("for=x\"203.0.113.9\"", bad),
            ("for=\"203.0.113.9", bad),
            ("for=\"203.0.113.9\\\"", bad),
            ("for=\"", bad),
            ("\"for\"=203.0.113.9", bad),
            ("for=203.0.113.9;FOR=203.0.113.9", bad),
            ("for=203.0.113.9;proto=a;Proto=b", bad),
            ("for=\"x, for=203.0.113.9", bad),
            ("for=\"x, for=\"203.0.113.9\"", bad),
            ("for==, for=203.0.113.9", bad),
            ("(, for=203.0.113.9", bad),
            ("for=203.0.113.9, @", bad),
            ("\u{e9}, for=203.0.113.9", Err("not_ascii")),
        ],
    );
}

#[test]
fn forwarded_field_lines_stand_each_on_its_own() {
    let two = |first: &str, second: &str| {
        identify("forwarded proxies=10.0.0.0/8", "10.0.0.1", &[("Forwarded", first), ("Forwarded", second)])
    };
    assert_eq!(two("for=192.0.2.66", "for=203.0.113.9, for=10.1.1.1").as_deref(), Ok("203.0.113.9"));
    assert_eq!(two("for=203.0.113.9", "").as_deref(), Ok("203.0.113.9"));
    assert_eq!(two("for=\"x", "y\", for=203.0.113.9"), Err("malformed_forwarded"));
    assert_eq!(two("for=192.0.2.66;", "proto=http;for=203.0.113.9").as_deref(), Ok("203.0.113.9"));
}

#[test]
fn an_element_has_at_most_sixteen_parameters() {
    let element = |count: usize| {
        let others = (1..count).map(|at| format!(";p{at}=x")).collect::<String>();
        identify("forwarded peers=any hops=1", "", &[("forwarded", &format!("for=203.0.113.9{others}"))])
    };
    assert_eq!(element(16).as_deref(), Ok("203.0.113.9"));
    assert_eq!(element(17), Err("malformed_forwarded"));
}

#[test]
fn an_embedded_ipv4_address_is_taken_out_only_where_asked() {
    check_values(
        "header:x peers=any nat64",
        "x",
        &[
            ("64:ff9b::cb00:7109", Ok("203.0.113.9")),
            ("64:ff9b::1:cb00:7109", Ok("64:ff9b:0:0::/64")),
            ("64:ff9b:1::cb00:7109", Ok("64:ff9b:1:0::/64")),
            ("64:ff9a::cb00:7109", Ok("64:ff9a:0:0::/64")),
            ("164:ff9b::cb00:7109", Ok("164:ff9b:0:0::/64")),
            ("64:ff9b::", NO_CLIENT),
            ("64:ff9b::ffff:ffff", NO_CLIENT),
            ("64:ff9b::e000:1", NO_CLIENT),
            ("2002:cb00:7109:1::1", Ok("2002:cb00:7109:1::/64")),
            ("::ffff:203.0.113.9", Ok("203.0.113.9")),
        ],
    );
    check_values(
        "header:x peers=any 6to4",
        "x",
        &[
            ("2002:cb00:7109::", Ok("203.0.113.9")),
            ("2002:cb00:7109:ffff:1:2:3:4", Ok("203.0.113.9")),
            ("2002:0:0:1::1", NO_CLIENT),
            ("2003:cb00:7109:1::1", Ok("2003:cb00:7109:1::/64")),
            ("64:ff9b::cb00:7109", Ok("64:ff9b:0:0::/64")),
        ],
    );
    // It names the visitor; it lends no trust.
    check_values(
        "x-forwarded-for proxies=10.0.0.0/8 nat64",
        "x-forwarded-for",
        &[("203.0.113.9, 64:ff9b::10.1.1.1", Ok("10.1.1.1"))],
    );
    assert_eq!(identify("peer nat64", "64:ff9b::203.0.113.9", &[]).as_deref(), Ok("203.0.113.9"));
}

#[test]
fn a_shared_address_is_refused_in_every_spelling() {
    check_values(
        "header:x peers=any nat64 shared=203.0.113.9,64:ff9b::192.0.2.1,2001:db8::1",
        "x",
        &[
            ("203.0.113.9", Err("shared_address")),
            ("::ffff:203.0.113.9", Err("shared_address")),
            ("64:ff9b::203.0.113.9", Err("shared_address")),
            ("192.0.2.1", Err("shared_address")),
            ("2001:DB8:0::1", Err("shared_address")),
            ("2001:db8::2", Ok("2001:db8:0:0::/64")),
            ("203.0.113.8", Ok("203.0.113.8")),
        ],
    );
    check_values(
        "header:x peers=any shared=::ffff:203.0.113.9",
        "x",
        &[("203.0.113.9", Err("shared_address"))],
    );
}

#[test]
fn a_prefix_keeps_its_bits_and_writes_the_groups_it_touches() {
    let address = "2001:db8:abcd:efff:ffff:ffff:ffff:ffff";
    for (prefix, key) in [
        (32, "2001:db8::/32"),
        (33, "2001:db8:8000::/33"),
        (47, "2001:db8:abcc::/47"),
        (48, "2001:db8:abcd::/48"),
        (49, "2001:db8:abcd:8000::/49"),
        (56, "2001:db8:abcd:ef00::/56"),
        (63, "2001:db8:abcd:effe::/63"),
        (64, "2001:db8:abcd:efff::/64"),
        (65, "2001:db8:abcd:efff:8000::/65"),
        (80, "2001:db8:abcd:efff:ffff::/80"),
        (112, "2001:db8:abcd:efff:ffff:ffff:ffff::/112"),
        (113, "2001:db8:abcd:efff:ffff:ffff:ffff:8000/113"),
        (127, "2001:db8:abcd:efff:ffff:ffff:ffff:fffe/127"),
        (128, "2001:db8:abcd:efff:ffff:ffff:ffff:ffff/128"),
    ] {
        assert_eq!(identify(&format!("peer prefix={prefix}"), address, &[]).as_deref(), Ok(key));
        assert_eq!(identify(&format!("peer prefix={prefix}"), "192.0.2.1", &[]).as_deref(), Ok("192.0.2.1"));
    }
}

#[cfg(feature = "hash")]
#[test]
fn a_keyed_hash_hides_every_address_and_keeps_local() {
    use tollgate_visitor::VisitorSourceBuilder;

    let hashed = |line: &str, secret: &str, peer: &str| {
        let source = line.parse::<VisitorSourceBuilder>().unwrap().keyed_hash(secret).build().unwrap();
        let visitor = source.identify(&HeaderMap::new(), Some(peer.parse().unwrap())).unwrap();
        visitor.key().to_owned()
    };
    let first = "doc-example-secret-0001";
    assert_eq!(hashed("peer", first, "203.0.113.7"), "h1_WDLHaqpUKI7EeKgaSsK5sQ");
    assert_eq!(hashed("peer 6to4", first, "2002:cb00:7107::1"), "h1_WDLHaqpUKI7EeKgaSsK5sQ");
    assert_eq!(hashed("peer", first, "2001:db8::1"), hashed("peer", first, "2001:db8::2"));
    assert_ne!(hashed("peer", first, "2001:db8::1"), hashed("peer prefix=48", first, "2001:db8::1"));
    assert_ne!(
        hashed("peer", first, "203.0.113.7"),
        hashed("peer", "doc-example-secret-0002", "203.0.113.7")
    );
    assert_eq!(hashed("fly peers=any missing=local", first, "203.0.113.7"), "local");
}

#[test]
fn equal_requests_give_equal_visitors() {
    let source: VisitorSource = "peer".parse().unwrap();
    let visitor = |peer: &str| source.identify(&HeaderMap::new(), Some(peer.parse().unwrap())).unwrap();
    assert_eq!(visitor("2001:db8::1"), visitor("2001:db8::2").clone());
    assert_ne!(visitor("2001:db8::1"), visitor("2001:db8:0:1::1"));
    assert!(!visitor("203.0.113.7").is_local());
}
