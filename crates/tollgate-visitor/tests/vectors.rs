//! The shared vectors: what each request, seen by each kind of source, must come to.
#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::net::SocketAddr;
use tollgate_visitor::{ConfigError, Network, OnMissing, OnUntrusted, VisitorSource, VisitorSourceBuilder};

const VECTORS: &str = include_str!("cases/visitors.jsonl");

#[test]
fn every_vector_comes_to_its_key_or_error() {
    let mut failures = Vec::new();
    let mut needing_hash = 0;
    let mut run = 0;
    for line in VECTORS.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        if vector["config"].get("hmac_key").is_some() && !cfg!(feature = "hash") {
            needing_hash += 1;
            continue;
        }
        run += 1;
        let expected = match (&vector["expect"]["key"], &vector["expect"]["error"]) {
            (Value::String(key), Value::Null) => format!("key {key}"),
            (Value::Null, Value::String(error)) => format!("error {error}"),
            other => panic!("{}: unreadable expectation {other:?}", vector["id"]),
        };
        let found = outcome(&vector);
        if found != expected {
            failures.push(format!("{}: {found}, not {expected}: {}", vector["id"], vector["why"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!((run, needing_hash), if cfg!(feature = "hash") { (94, 0) } else { (92, 2) });
}

fn outcome(vector: &Value) -> String {
    let source = match source(vector["config"].as_object().unwrap()) {
        Ok(source) => source,
        Err(error) => return format!("error config_{}", error.kind()),
    };
    let peer = vector["peer"].as_str().map(|peer| peer.parse::<SocketAddr>().unwrap().ip());
    match source.identify(&headers(&vector["headers"]), peer) {
        Ok(visitor) => format!("key {}", visitor.key()),
        Err(error) => format!("error {}", error.kind()),
    }
}

fn headers(pairs: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for pair in pairs.as_array().unwrap() {
        let name = HeaderName::from_bytes(pair[0].as_str().unwrap().as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(pair[1].as_str().unwrap().as_bytes()).unwrap());
    }
    headers
}

fn source(config: &Map<String, Value>) -> Result<VisitorSource, ConfigError> {
    let text = |name: &str| config.get(name).map(|value| value.as_str().unwrap());
    let mut builder = match (text("source").unwrap(), text("header")) {
        ("peer", None) => VisitorSource::peer(),
        ("single_header", Some(header)) => VisitorSource::single_header(header),
        ("cloudfront", Some("cloudfront-viewer-address")) => VisitorSource::cloudfront(),
        ("xff", None) => VisitorSource::x_forwarded_for(),
        ("forwarded", None) => VisitorSource::forwarded(),
        other => panic!("unknown source {other:?}"),
    };
    for (name, value) in config {
        builder = match (name.as_str(), value) {
            ("source" | "header", _) => builder,
            (name, value) => option(builder, name, value)?,
        };
    }
    builder.build()
}

fn option(
    builder: VisitorSourceBuilder,
    name: &str,
    value: &Value,
) -> Result<VisitorSourceBuilder, ConfigError> {
    let small = || u8::try_from(value.as_u64().unwrap()).unwrap();
    Ok(match (name, value.as_str()) {
        ("trusted_peers", Some("any")) => builder.any_peer(),
        ("trusted_peers", None) => builder.trusted_peers(networks(value)?),
        ("trusted_proxies", None) => builder.trusted_proxies(networks(value)?),
        ("hops", None) => builder.hops(usize::from(small())),
        ("untrusted_peer", Some("reject")) => builder.on_untrusted(OnUntrusted::Reject),
        ("untrusted_peer", Some("peer")) => builder.on_untrusted(OnUntrusted::Peer),
        ("on_missing", Some("local")) => builder.on_missing(OnMissing::Local),
        ("on_missing", Some("error")) => builder.on_missing(OnMissing::Error),
        ("on_missing", Some("peer")) => builder.on_missing(OnMissing::Peer),
        ("allow_port", None) if value == true => builder.allow_port(),
        ("prefer_header", Some(header)) => builder.prefer_header(header),
        ("shared_addresses", None) => {
            let addresses =
                value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().parse().unwrap());
            builder.shared_addresses(addresses.collect::<Vec<_>>())
        }
        ("nat64", None) if value == true => builder.nat64(),
        ("six_to_four", None) if value == true => builder.six_to_four(),
        ("ipv6_prefix", None) => builder.ipv6_prefix(small()),
        #[cfg(feature = "hash")]
        ("hmac_key", Some(secret)) => builder.keyed_hash(secret),
        _ => panic!("unknown config {name}: {value}"),
    })
}

fn networks(list: &Value) -> Result<Vec<Network>, ConfigError> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().parse()).collect()
}
