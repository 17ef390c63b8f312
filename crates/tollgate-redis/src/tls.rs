//! TLS, with a configuration of its own: nothing is set for the whole process.

use std::{fmt, io, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::RedisConfigError;

/// How to speak TLS to one host.
#[derive(Clone)]
pub(crate) struct Tls {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl Tls {
    /// Trusts what the system trusts, and these certificates in PEM.
    pub(crate) fn new(host: &str, roots: &[Vec<u8>]) -> Result<Self, RedisConfigError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| RedisConfigError::Url)?;
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for pem in roots {
            let mut added = 0;
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|_| RedisConfigError::Certificate)?;
                store.add(certificate).map_err(|_| RedisConfigError::Certificate)?;
                added += 1;
            }
            if added == 0 {
                return Err(RedisConfigError::Certificate);
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| RedisConfigError::NoTls)?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Self { name, config: Arc::new(config) })
    }

    pub(crate) async fn open(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        TlsConnector::from(self.config.clone()).connect(self.name.clone(), stream).await
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("name", &self.name).finish_non_exhaustive()
    }
}
