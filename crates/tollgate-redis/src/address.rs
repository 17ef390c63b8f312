//! Where a server is, and how to get there.

use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

use redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::RedisConfigError;
#[cfg(feature = "tls")]
use crate::tls::Tls;

/// A byte stream to a server, however it is made.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Where a server is and how to log in there. Its `Debug` shows neither user nor password.
#[derive(Clone)]
pub(crate) struct Address {
    place: Place,
    pub(crate) login: RedisConnectionInfo,
}

#[derive(Clone, Debug)]
enum Place {
    Tcp {
        host: Arc<str>,
        port: u16,
        #[cfg(feature = "tls")]
        tls: Option<Tls>,
    },
    #[cfg(unix)]
    Unix(PathBuf),
}

impl Address {
    pub(crate) fn parse(
        url: &str,
        #[cfg(feature = "tls")] roots: &[Vec<u8>],
    ) -> Result<Self, RedisConfigError> {
        let url = url.trim();
        let (scheme, rest) = url.split_once("://").ok_or(RedisConfigError::Url)?;
        let scheme = scheme.to_ascii_lowercase();
        let is_secure = matches!(scheme.as_str(), "rediss" | "valkeys");
        if url.ends_with("#insecure") {
            return Err(RedisConfigError::Insecure);
        }
        // The client crate parses; connecting, with TLS or without, is done here.
        let plain = scheme.strip_suffix('s').filter(|_| is_secure).unwrap_or(&scheme);
        let info = format!("{plain}://{rest}").into_connection_info().map_err(|_| RedisConfigError::Url)?;
        let place = match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                #[cfg(not(feature = "tls"))]
                if is_secure {
                    return Err(RedisConfigError::NoTls);
                }
                Place::Tcp {
                    host: host.as_str().into(),
                    port: *port,
                    #[cfg(feature = "tls")]
                    tls: is_secure.then(|| Tls::new(host, roots)).transpose()?,
                }
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => Place::Unix(path.clone()),
            _ => return Err(RedisConfigError::Url),
        };
        // A name for `CLIENT LIST` would cost a round trip at each connection, and a permission.
        let login = info.redis_settings().clone().set_skip_set_lib_name();
        Ok(Self { place, login })
    }

    /// Opens a byte stream to the server.
    pub(crate) async fn open(&self, silence: Duration) -> io::Result<Box<dyn Stream>> {
        match &self.place {
            Place::Tcp {
                host,
                port,
                #[cfg(feature = "tls")]
                tls,
            } => {
                let stream = TcpStream::connect((&**host, *port)).await?;
                watch(&stream, silence)?;
                #[cfg(feature = "tls")]
                if let Some(tls) = tls {
                    return Ok(Box::new(tls.open(stream).await?));
                }
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            Place::Unix(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
        }
    }
}

/// Has the system notice a peer that is gone without a word.
fn watch(stream: &TcpStream, silence: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE))?;
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    socket.set_tcp_user_timeout(Some(silence))?;
    #[cfg(not(any(target_os = "android", target_os = "fuchsia", target_os = "linux")))]
    let _ = silence;
    Ok(())
}

/// How long an idle connection goes without a sign of life, and between two.
const KEEPALIVE: Duration = Duration::from_secs(15);

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.place, f)
    }
}
