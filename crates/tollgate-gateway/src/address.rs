//! Where Redis is, and how to get there.

use std::io;

use redis::{
    ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo as _, RedisConnectionInfo, RedisError,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

#[cfg(feature = "tls")]
use crate::tls::Tls;

/// A byte stream to Redis, however it is made.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Where Redis is and how to log in there.
pub(crate) struct Address {
    place: ConnectionAddr,
    pub(crate) login: RedisConnectionInfo,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, RedisError> {
        let (scheme, rest) = url.split_once("://").unwrap_or((url, ""));
        let scheme = scheme.to_ascii_lowercase();
        let is_secure = matches!(&*scheme, "rediss" | "valkeys");
        if url.ends_with("#insecure") {
            return Err(refused(
                "TLS without a look at the certificate is not offered: name it in SSL_CERT_FILE",
            ));
        }
        // The client crate parses; connecting, with TLS or without, is done here.
        let plain = scheme.strip_suffix('s').filter(|_| is_secure).unwrap_or(&scheme);
        let info: ConnectionInfo = format!("{plain}://{rest}").into_connection_info()?;
        #[cfg(not(feature = "tls"))]
        if is_secure {
            return Err(refused("TLS is not built in: build tollgate-gateway with its feature `tls`"));
        }
        #[cfg(feature = "tls")]
        let tls = match info.addr() {
            ConnectionAddr::Tcp(host, _) if is_secure => Some(Tls::new(host)?),
            _ => None,
        };
        Ok(Self {
            place: info.addr().clone(),
            login: info.redis_settings().clone(),
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// Opens a byte stream to Redis.
    pub(crate) async fn open(&self) -> io::Result<Box<dyn Stream>> {
        match &self.place {
            ConnectionAddr::Tcp(host, port) => {
                let stream = TcpStream::connect((&**host, *port)).await?;
                stream.set_nodelay(true)?;
                #[cfg(feature = "tls")]
                if let Some(tls) = &self.tls {
                    return Ok(Box::new(tls.open(stream).await?));
                }
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

pub(crate) fn refused(because: &'static str) -> RedisError {
    RedisError::from((ErrorKind::InvalidClientConfig, because))
}
