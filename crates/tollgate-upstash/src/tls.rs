//! Encryption, set up for this client alone.

use std::{
    io,
    sync::{Arc, LazyLock},
};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

/// The certificates are read from disk once a process.
static ROOTS: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| Arc::new(system()));

/// Trusts nobody: for what will not be encrypted.
pub(crate) fn nobody() -> Arc<RootCertStore> {
    Arc::new(RootCertStore::empty())
}

/// Trusts what the system trusts.
pub(crate) fn the_system() -> Arc<RootCertStore> {
    Arc::clone(&ROOTS)
}

/// Trusts what the system trusts, and these certificates in PEM.
pub(crate) fn the_system_and(pem: &[u8]) -> Result<Arc<RootCertStore>, io::Error> {
    let invalid = |detail| io::Error::new(io::ErrorKind::InvalidData, detail);
    let mut roots = RootCertStore::clone(&ROOTS);
    let known = roots.len();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| invalid("a certificate is no PEM"))?;
        roots.add(certificate).map_err(|_| invalid("a certificate cannot be trusted"))?;
    }
    if roots.len() > known { Ok(Arc::new(roots)) } else { Err(invalid("there is no certificate in it")) }
}

/// With a provider of its own: a library must not choose one for the whole process, nor hope that somebody has.
pub(crate) fn config(roots: Arc<RootCertStore>) -> Result<ClientConfig, io::Error> {
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
fn system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
