//! TLS to Redis, with a configuration of its own: nothing is set for the whole process.

use std::{io, sync::Arc};

use redis::RedisError;
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::address::refused;

/// How to speak TLS to one host.
pub(crate) struct Tls {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl Tls {
    /// Trusts what the system trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured.
    pub(crate) fn new(host: &str) -> Result<Self, RedisError> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| refused("the host is none that a certificate could be for"))?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|_| refused("TLS cannot be set up"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { name, config: Arc::new(config) })
    }

    pub(crate) async fn open(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        TlsConnector::from(Arc::clone(&self.config)).connect(self.name.clone(), stream).await
    }
}
