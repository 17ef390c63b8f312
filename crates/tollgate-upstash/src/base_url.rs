//! Where a database answers: which URLs are taken, and which hosts may be asked without encryption.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use url::{Host, Url};

use crate::CredentialsError;

/// The base URL of a database, and the two addresses that commands are sent to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct BaseUrl {
    /// Normalized, without a slash at its end.
    pub(crate) text: Box<str>,
    /// Takes one command.
    pub(crate) single: Uri,
    /// Takes an array of them.
    pub(crate) pipeline: Uri,
}

/// Reads a base URL.
pub(crate) fn parse(text: &str) -> Result<BaseUrl, CredentialsError> {
    let url = Url::parse(text).map_err(|_| {
        if text.contains("://") { CredentialsError::NoUrl } else { CredentialsError::NoScheme }
    })?;
    match url.scheme() {
        "https" => {}
        "http" if url.host().is_some_and(|host| is_private(&host)) => {}
        "http" => return Err(CredentialsError::PublicHttp),
        "redis" | "rediss" => return Err(CredentialsError::RedisUrl),
        _ => return Err(CredentialsError::NoScheme),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CredentialsError::TokenInUrl);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(if text.contains("_token=") {
            CredentialsError::TokenInUrl
        } else {
            CredentialsError::Query
        });
    }
    let base = url.as_str().trim_end_matches('/');
    // Another reader of URLs than the one above, which may know better about odd characters in paths.
    let below = |path: &str| Uri::try_from(format!("{base}{path}")).map_err(|_| CredentialsError::NoUrl);
    Ok(BaseUrl { text: base.into(), single: below("/")?, pipeline: below("/pipeline")? })
}

/// Whether what is sent there stays on this machine or in a private network.
fn is_private(host: &Host<&str>) -> bool {
    match *host {
        Host::Ipv4(address) => is_private_v4(address),
        Host::Ipv6(address) => match IpAddr::V6(address).to_canonical() {
            IpAddr::V4(address) => is_private_v4(address),
            IpAddr::V6(address) => is_private_v6(address),
        },
        Host::Domain(name) => is_private_name(name.trim_end_matches('.')),
    }
}

const fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    // The last is the shared space of carriers and overlay networks, RFC 6598.
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || (first == 100 && second & 0xC0 == 64)
}

const fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
}

/// Names without a dot are those of containers and of hosts on the same network; the endings are reserved for private use.
fn is_private_name(name: &str) -> bool {
    !name.contains('.')
        || [".localhost", ".local", ".internal", ".home.arpa"].iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_in_private_networks() {
        for url in [
            "http://localhost:8079",
            "http://LOCALHOST.",
            "http://db.localhost",
            "http://127.0.0.1:8079",
            "http://127.9.9.9",
            "http://2130706433",
            "http://[::1]:8079",
            "http://[::ffff:10.0.0.1]",
            "http://10.1.2.3",
            "http://172.31.0.1",
            "http://192.168.1.1",
            "http://169.254.0.9",
            "http://100.64.0.1",
            "http://[fd00::1]",
            "http://[fe80::1]",
            "http://gateway:8079",
            "http://gateway.railway.internal",
            "http://host.docker.internal",
            "http://redis.svc.cluster.local",
        ] {
            assert!(parse(url).is_ok(), "{url}");
        }
        for url in [
            "http://eu1-fond-1.upstash.io",
            "http://8.8.8.8",
            "http://100.128.0.1",
            "http://172.32.0.1",
            "http://[2606:4700::1111]",
            "http://[::ffff:8.8.8.8]",
            "http://localhost.example.com",
            "http://internal.example",
        ] {
            assert_eq!(parse(url).err(), Some(CredentialsError::PublicHttp), "{url}");
        }
    }

    #[test]
    fn a_base_url_is_normalized_once() {
        for (url, base) in [
            ("https://eu1-fond-1.upstash.io", "https://eu1-fond-1.upstash.io"),
            ("https://eu1-fond-1.upstash.io/", "https://eu1-fond-1.upstash.io"),
            ("https://eu1-fond-1.upstash.io//", "https://eu1-fond-1.upstash.io"),
            ("HTTPS://EU1-fond-1.Upstash.io:443/", "https://eu1-fond-1.upstash.io"),
            ("http://localhost:8079/redis/", "http://localhost:8079/redis"),
        ] {
            let read = parse(url).ok().unwrap();
            assert_eq!(&*read.text, base);
            assert_eq!(read.single.to_string(), format!("{base}/"));
            assert_eq!(read.pipeline.to_string(), format!("{base}/pipeline"));
        }
    }
}
