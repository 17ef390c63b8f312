//! How a row is checked: a source in its text form, the peer, the headers, the key or the error.

use std::net::IpAddr;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use tollgate_visitor::VisitorSource;

pub(crate) type Outcome = Result<String, &'static str>;
pub(crate) type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Result<&'a str, &'static str>, &'a str);

pub(crate) fn identify(source: &str, peer: &str, fields: &[(&str, &str)]) -> Outcome {
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

pub(crate) fn check(source: &str, rows: &[Row<'_>]) {
    for (peer, fields, expected, why) in rows {
        assert_eq!(
            identify(source, peer, fields),
            expected.map(str::to_owned),
            "{why}: {source} {peer} {fields:?}"
        );
    }
}

/// One value in the source's only header, from a trusted peer.
pub(crate) fn check_values(source: &str, header: &str, rows: &[(&str, Result<&str, &'static str>)]) {
    for (value, expected) in rows {
        let found = identify(source, "10.0.0.1", &[(header, value)]);
        assert_eq!(found, expected.map(str::to_owned), "{source} {value:?}");
    }
}

pub(crate) const MALFORMED: Result<&str, &str> = Err("malformed_address");
pub(crate) const NO_CLIENT: Result<&str, &str> = Err("not_a_client_address");
