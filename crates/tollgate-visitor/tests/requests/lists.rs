//! Sources that read a list of hops: `X-Forwarded-For` and `Forwarded`.

use tollgate_visitor::{MAX_HEADER_BYTES, MAX_HOPS};

use crate::rows::{MALFORMED, NO_CLIENT, check_values, identify};

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
