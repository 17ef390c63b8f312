//! `X-Forwarded-For`: a comma-separated list to which each proxy appends the address that it saw.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::HeaderName;

use crate::VisitorError;
use crate::address::{Form, ascii};
use crate::field::values;
use crate::hops::{HopRule, Hops, push};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client's address. `None`: the field is absent or has only empty elements.
pub(crate) fn client(headers: &HeaderMap, rule: &HopRule) -> Result<Option<IpAddr>, VisitorError> {
    let mut hops = Hops::<&[u8]>::new();
    // Repeated fields are one list in their order (RFC 9110 §5.3); empty elements do not count (§5.6.1).
    for value in values(headers, &X_FORWARDED_FOR)? {
        for element in value.split(|&byte| byte == b',') {
            if element.iter().any(|byte| !matches!(byte, b' ' | b'\t')) {
                push(&mut hops, element)?;
            }
        }
    }
    // Some proxies append a port, so that it is always allowed here.
    rule.client(&hops, |hop| Form::MaybePort.read(ascii(hop)?))
}
