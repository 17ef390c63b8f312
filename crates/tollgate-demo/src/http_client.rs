//! The client for other servers that this one asks.

use reqwest::{Client, ClientBuilder};

/// It neither follows redirects nor sends anything twice: what goes out holds a key that belongs to one host.
pub(crate) fn http_client() -> ClientBuilder {
    // The client wants a provider of cryptography. This is a program's part, so it may choose one for the process; if there is one
    // already, that will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .user_agent(concat!("tollgate-demo/", env!("CARGO_PKG_VERSION")))
}
