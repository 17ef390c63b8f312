//! What carries a request to the service and the answer back.

use std::{error::Error, fmt};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};

/// Sends one HTTP request and gives back the whole answer: the seam at which another HTTP client, a recorder or a test's own
/// faults take the place of [`HttpTransport`](crate::HttpTransport).
///
/// Requests come complete, with their field `Authorization` marked as sensitive; whoever prints one must not print that. A
/// transport neither retries nor follows redirects, since the token belongs to one host, and needs no time limit: a call that
/// is out of time drops the future, and the request is to be given up then.
///
/// ```
/// use async_trait::async_trait;
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use tollgate_upstash::{HttpTransport, Transport, TransportError};
///
/// /// Says how large each request is.
/// #[derive(Debug)]
/// struct Sizes(HttpTransport);
///
/// #[async_trait]
/// impl Transport for Sizes {
///     async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
///         println!("{} bytes", request.body().len());
///         self.0.send(request).await
///     }
/// }
/// ```
#[async_trait]
pub trait Transport: fmt::Debug + Send + Sync + 'static {
    /// Sends `request` and reads the answer to its end.
    ///
    /// # Errors
    /// If there was no whole answer; the request may have been carried out then. An answer of any status is no error.
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError>;
}

/// A request without a whole answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransportError {
    /// No connection, or it broke before the answer had ended. The request is sent again if there is time.
    Broken(Box<dyn Error + Send + Sync>),
    /// The answer was longer than any answer of the service can be. The request is not sent again.
    Oversize {
        /// The most that is read, in bytes.
        most: usize,
    },
}

impl TransportError {
    /// No connection, or it broke, for this reason.
    pub fn broken(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Broken(source.into())
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(_) => f.write_str("no connection, or it broke before the answer had ended"),
            Self::Oversize { most } => write!(f, "the answer is longer than {most} bytes"),
        }
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Broken(source) => Some(source.as_ref()),
            Self::Oversize { .. } => None,
        }
    }
}
