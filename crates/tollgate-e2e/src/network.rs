//! That nothing left this machine: neither what the page asked for, nor what the browser did by itself.

use std::net::IpAddr;

use crate::failure::{Result, ensure, failure};

/// Fails if the browser's log names a request or a connection to any other machine.
///
/// The log has one event a line. A request names its `url`, an attempt to connect its `address`.
pub(crate) fn stays_at_home(log: &str) -> Result {
    let requests = values(log, "url");
    let connections = values(log, "address");
    ensure(!requests.is_empty() && !connections.is_empty(), || {
        "the browser has logged no request".to_owned()
    })?;
    match requests
        .iter()
        .find(|url| leaves(url))
        .or_else(|| connections.iter().find(|address| is_elsewhere(address)))
    {
        Some(other) => Err(failure(format!("the browser went to {other}"))),
        None => Ok(()),
    }
}

/// The texts of all members of this name.
fn values<'l>(log: &'l str, name: &str) -> Vec<&'l str> {
    let mark = format!("\"{name}\":\"");
    log.split(mark.as_str()).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect()
}

/// Whether a URL leads to another machine. What has no host, like `data:`, leads nowhere.
fn leaves(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    matches!(scheme, "http" | "https" | "ws" | "wss") && is_elsewhere(host)
}

/// Whether an address with a port is not on the loopback interface.
fn is_elsewhere(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    !host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_loopback_is_home() {
        let log = |url: &str, address: &str| {
            format!("{{\"params\":{{\"url\":\"{url}\"}}}},\n{{\"params\":{{\"address\":\"{address}\"}}}},\n")
        };
        for (url, address) in
            [("http://127.0.0.1:3000/page/page.js", "127.0.0.1:3000"), ("data:,", "[::1]:1")]
        {
            assert!(stays_at_home(&log(url, address)).is_ok(), "{url} {address}");
        }
        for (url, address) in [
            ("https://update.example/", "127.0.0.1:3000"),
            ("http://127.0.0.1.example/", "127.0.0.1:3000"),
            ("http://127.0.0.1/", "192.0.2.1:443"),
            ("http://127.0.0.1/", "[2001:db8::1]:443"),
        ] {
            assert!(stays_at_home(&log(url, address)).is_err(), "{url} {address}");
        }
        assert!(stays_at_home("").is_err(), "a log of nothing shows nothing");
    }
}
