//! Sources that read one value: the peer and single headers.

use crate::rows::{MALFORMED, NO_CLIENT, Row, check, check_values, identify};

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
