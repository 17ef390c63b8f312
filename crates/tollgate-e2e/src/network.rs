//! That nothing left this machine: neither what the page asked for, nor what the browser would like to know by itself.
//!
//! A Chromium looks up its maker's servers whatever it is told. Here no name has an address, so what counts is what it did: whom it
//! connected to, and whether it sent a datagram. It also looks whether there would be a way to an address, which sends nothing.

use std::net::SocketAddr;

use serde_json::Value;

use crate::failure::{Result, ensure, failure};

/// Fails if the browser's network log has a request of a page, a connection or a datagram to another machine.
pub(crate) fn stays_at_home(log: &str) -> Result {
    let log: Value = serde_json::from_str(log)?;
    let events = |name: &str| {
        let kind = &log["constants"]["logEventTypes"][name];
        let all = log["events"].as_array().into_iter().flatten();
        all.filter(move |event| !kind.is_null() && event["type"] == *kind).map(|event| &event["params"])
    };
    let connections = || events("TCP_CONNECT_ATTEMPT").filter_map(|event| event["address"].as_str());
    ensure(connections().next().is_some(), || "the browser has logged no connection".to_owned())?;
    let elsewhere = connections().find(|address| !is_loopback(address));
    let asked = events("URL_REQUEST_START_JOB").find(|event| is_of_a_page(event) && !is_home(event));
    let sent = events("UDP_BYTES_SENT").next().map(|_| "somewhere, with a datagram");
    match elsewhere.or_else(|| asked.and_then(|event| event["url"].as_str())).or(sent) {
        Some(other) => Err(failure(format!("the browser went to {other}"))),
        None => Ok(()),
    }
}

fn is_loopback(address: &str) -> bool {
    address.parse().is_ok_and(|address: SocketAddr| address.ip().is_loopback())
}

/// Whether a page asked, and not the browser by itself.
fn is_of_a_page(request: &Value) -> bool {
    request["initiator"].as_str().is_some_and(|initiator| initiator.starts_with("http"))
}

/// Whether a URL leads to this machine. What has no host, like `data:`, leads nowhere.
fn is_home(request: &Value) -> bool {
    let url = request["url"].as_str().unwrap_or_default();
    match url.split_once("://") {
        Some((_, rest)) => is_loopback(rest.split(['/', '?', '#']).next().unwrap_or_default()),
        None => url.starts_with("data:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HOME: &str = "127.0.0.1:3000";
    const PAGE: &str = "http://127.0.0.1:3000";

    fn log(initiator: &str, url: &str, address: &str, datagrams: usize) -> String {
        let mut events = vec![
            json!({ "type": 1, "params": { "initiator": initiator, "url": url } }),
            json!({ "type": 2, "params": { "address": address } }),
            json!({ "type": 2, "params": { "net_error": 0 } }),
            json!({ "type": 9, "params": { "address": "192.0.2.1:443" } }),
            json!({ "type": 2 }),
        ];
        events.extend((0..datagrams).map(|_| json!({ "type": 3, "params": { "byte_count": 7 } })));
        let types = json!({ "URL_REQUEST_START_JOB": 1, "TCP_CONNECT_ATTEMPT": 2, "UDP_BYTES_SENT": 3, "UDP_CONNECT": 9 });
        json!({ "constants": { "logEventTypes": types }, "events": events }).to_string()
    }

    #[test]
    fn only_the_loopback_is_home() {
        for (initiator, url, address) in [
            (PAGE, "http://127.0.0.1:3000/page/page.js", HOME),
            (PAGE, "data:,", "[::1]:3000"),
            ("not an origin", "https://update.example/", HOME),
        ] {
            stays_at_home(&log(initiator, url, address, 0)).unwrap();
        }
        for (url, address, datagrams) in [
            ("https://font.example/", HOME, 0),
            ("http://127.0.0.1.example:3000/", HOME, 0),
            ("http://127.0.0.1:3000/", "192.0.2.1:443", 0),
            ("http://127.0.0.1:3000/", "[2001:db8::1]:443", 0),
            ("http://127.0.0.1:3000/", HOME, 1),
        ] {
            assert!(
                stays_at_home(&log(PAGE, url, address, datagrams)).is_err(),
                "{url} {address} {datagrams}"
            );
        }
        let nothing = json!({ "constants": { "logEventTypes": {} }, "events": [] }).to_string();
        assert!(stays_at_home(&nothing).is_err(), "a log of nothing shows nothing");
    }
}
