//! The transport that everybody uses: HTTP/1.1 with connections that are kept.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use reqwest::{Client, redirect};
use rustls::RootCertStore;

use crate::{Credentials, Transport, TransportError, tls};

/// HTTP/1.1 over connections that are kept open, encrypted by rustls.
///
/// Trusted are the certificates of the system (`SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured), and where it has none, as in an
/// image without a distribution, Mozilla's. No process-wide provider of cryptography is needed or set. `HTTPS_PROXY`,
/// `ALL_PROXY` and `NO_PROXY` are honoured for `https://`; a plain `http://` host is private and asked directly.
#[derive(Clone)]
pub struct HttpTransport {
    client: Client,
}

/// The most that is read of one answer: some eight times the longest that a thousand commands have.
const MOST_BYTES: usize = 8 * 1024 * 1024;

impl HttpTransport {
    /// A transport with connections of its own. None is made yet.
    ///
    /// # Errors
    /// Only if encryption could not be set up.
    pub fn new(credentials: &Credentials) -> Result<Self, TransportError> {
        let roots = if is_encrypted(credentials) { tls::the_system() } else { tls::nobody() };
        Self::trusting(roots, credentials)
    }

    /// As [`HttpTransport::new`], trusting these certificates in PEM as well: for a gateway with a certificate of its own.
    ///
    /// # Errors
    /// If `pem` holds no certificate or one that cannot be trusted, or encryption could not be set up.
    pub fn with_roots(credentials: &Credentials, pem: &[u8]) -> Result<Self, TransportError> {
        Self::trusting(tls::the_system_and(pem).map_err(TransportError::broken)?, credentials)
    }

    fn trusting(roots: Arc<RootCertStore>, credentials: &Credentials) -> Result<Self, TransportError> {
        // Even without encryption the client wants it set up, or it asks for a provider of the whole process.
        let tls = tls::config(roots).map_err(TransportError::broken)?;
        let builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .http1_only()
            // Tries are counted and timed above, over all of them.
            .retry(reqwest::retry::never())
            .redirect(redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("tollgate-upstash/", env!("CARGO_PKG_VERSION")));
        let builder = if is_encrypted(credentials) { builder.https_only(true) } else { builder.no_proxy() };
        Ok(Self { client: builder.build().map_err(TransportError::broken)? })
    }
}

/// Without the client, which may know a proxy and its password.
impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").finish_non_exhaustive()
    }
}

fn is_encrypted(credentials: &Credentials) -> bool {
    credentials.url().starts_with("https:")
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let request = request.try_into().map_err(broken)?;
        let mut answer = self.client.execute(request).await.map_err(broken)?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        *response.body_mut() = read(&mut answer).await?;
        Ok(response)
    }
}

/// An error of the HTTP client says the URL with its every word; the caller knows it.
fn broken(error: reqwest::Error) -> TransportError {
    TransportError::broken(error.without_url())
}

/// An answer in one piece is passed on as it is, without a copy.
async fn read(answer: &mut reqwest::Response) -> Result<Bytes, TransportError> {
    let first = answer.chunk().await.map_err(broken)?.unwrap_or_default();
    let Some(second) = answer.chunk().await.map_err(broken)? else {
        return bounded(first.len()).map(|()| first);
    };
    let mut whole = BytesMut::from(first);
    let mut next = Some(second);
    while let Some(chunk) = next {
        bounded(whole.len().saturating_add(chunk.len()))?;
        whole.extend_from_slice(&chunk);
        next = answer.chunk().await.map_err(broken)?;
    }
    Ok(whole.freeze())
}

const fn bounded(bytes: usize) -> Result<(), TransportError> {
    if bytes > MOST_BYTES { Err(TransportError::Oversize { most: MOST_BYTES }) } else { Ok(()) }
}
