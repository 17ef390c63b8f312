//! What becomes of an address: unwrapping, prefixes, shared addresses, hashes.

use http::header::HeaderMap;
use tollgate_visitor::VisitorSource;

use crate::rows::{NO_CLIENT, check_values, identify};

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
