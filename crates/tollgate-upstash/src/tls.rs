//! Encryption, set up for this client alone.

use std::{
    io,
    sync::{Arc, LazyLock},
};

use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// The certificates are read from disk once a process.
static ROOTS: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| Arc::new(roots()));

/// With a provider of its own: a library must not choose one for the whole process, nor hope that somebody has. Where nothing
/// will be encrypted, nothing is trusted and no certificate read.
pub(crate) fn config(encrypted: bool) -> Result<ClientConfig, io::Error> {
    let roots = if encrypted { Arc::clone(&ROOTS) } else { Arc::new(RootCertStore::empty()) };
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// What the system trusts, or Mozilla's list where the system has none. Single certificates that cannot be read are common and
/// left out.
fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
