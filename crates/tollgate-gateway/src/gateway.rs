//! The gateway, and how one is put together.

use std::{
    error::Error,
    fmt,
    future::Future,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::Router;
use redis::RedisError;
use tokio::net::TcpListener;

use crate::{
    backend::Backend,
    body::Room,
    scripts::Scripts,
    server,
    service::{self, Service},
    token::{Token, Tokens},
};

/// The Upstash REST API in front of a Redis.
///
/// It reaches Redis when it is first asked something, and again by itself whenever Redis was gone.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use tollgate_gateway::Gateway;
///
/// let gateway = Gateway::builder("redis://127.0.0.1:6379").token("a-token").build()?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// println!("UPSTASH_REDIS_REST_URL=http://{}", listener.local_addr()?);
/// gateway.serve(listener, std::future::pending()).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Gateway {
    service: Arc<Service>,
    most_connections: usize,
    connections: Arc<AtomicU64>,
}

/// What a [`Gateway`] is made of; see [`Gateway::builder`].
#[must_use]
pub struct GatewayBuilder {
    redis_url: String,
    token: Option<String>,
    read_only_token: Option<String>,
    most_body_bytes: usize,
    most_bytes_of_bodies: usize,
    most_connections: usize,
    reply_within: Duration,
}

impl Gateway {
    /// The most that the body of one request may hold unless told otherwise: 10 MB, as the original takes.
    pub const MOST_BODY_BYTES: usize = 10 * 1024 * 1024;

    /// The most that the bodies of all requests may take together, with what is made of them, unless told otherwise: 128 MB.
    pub const MOST_BYTES_OF_BODIES: usize = 128 * 1024 * 1024;

    /// How many connections of clients there may be at once unless told otherwise: what the usual limit of 1,024 open files
    /// leaves beside those to Redis.
    pub const MOST_CONNECTIONS: usize = 900;

    /// How long Redis may take for one request unless told otherwise.
    pub const REPLY_WITHIN: Duration = Duration::from_secs(10);

    /// A gateway to the Redis at `redis_url`: `redis://[user][:password@]host[:port][/database]`, `rediss://` for TLS,
    /// or `unix:///path` (also `redis+unix`) for a socket.
    ///
    /// TLS, the feature `tls`, trusts what the system trusts. It sets nothing for the whole process.
    pub fn builder(redis_url: impl Into<String>) -> GatewayBuilder {
        GatewayBuilder {
            redis_url: redis_url.into(),
            token: None,
            read_only_token: None,
            most_body_bytes: Self::MOST_BODY_BYTES,
            most_bytes_of_bodies: Self::MOST_BYTES_OF_BODIES,
            most_connections: Self::MOST_CONNECTIONS,
            reply_within: Self::REPLY_WITHIN,
        }
    }

    /// The routes, to be served in another way than by [`serve`](Self::serve). Whoever does that looks after
    /// [`may_listen_on`](Self::may_listen_on) as well.
    pub fn router(&self) -> Router {
        service::router(self.service.clone())
    }

    /// Whether clients that reach `address` may be asked for these tokens.
    ///
    /// # Errors
    /// [`StartError::WeakToken`] if machines other than this one reach it and a token has fewer than 32
    /// characters, or fewer than 8 different ones.
    pub fn may_listen_on(&self, address: SocketAddr) -> Result<(), StartError> {
        let suits = self.service.tokens.suit(address.ip());
        if suits { Ok(()) } else { Err(StartError::WeakToken { address }) }
    }

    /// Says hello to Redis, so that what cannot work is found out before the first request.
    ///
    /// # Errors
    /// [`StartError::Redis`] if Redis answers but lets the gateway not in. A Redis that is not there yet is
    /// logged and no error: it may come.
    pub async fn greet(&self) -> Result<(), StartError> {
        match self.service.backend.greet().await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(text)) => Err(StartError::Redis { text }),
            Err(error) => {
                tracing::warn!("{}; requests fail until it can", error.text());
                Ok(())
            }
        }
    }

    /// Serves on `listener` until `stop` is done; requests that have begun then get five seconds to end.
    ///
    /// # Errors
    /// If [`may_listen_on`](Self::may_listen_on) refuses the listener's address, or it has none.
    pub async fn serve(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), StartError> {
        self.may_listen_on(listener.local_addr().map_err(StartError::Listener)?)?;
        server::serve(self.router(), listener, stop, self.most_connections, &self.connections).await;
        Ok(())
    }

    /// How many connections of clients it has accepted so far: a client that keeps its connection is counted once.
    #[must_use]
    pub fn connections_accepted(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }
}

impl GatewayBuilder {
    /// What clients prove themselves with: visible ASCII, and at least 32 characters if they are on other machines.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Lets clients with this token read: no writes, no scripts, no `KEYS` and `SCAN`.
    pub fn read_only_token(mut self, token: impl Into<String>) -> Self {
        self.read_only_token = Some(token.into());
        self
    }

    /// The most that the body of one request may hold.
    pub fn most_body_bytes(mut self, bytes: usize) -> Self {
        self.most_body_bytes = bytes;
        self
    }

    /// The most that the bodies of all requests may take together, with 80 bytes for each word in them and 512 for each command,
    /// from the first byte until the answer. A request beyond that gets a 503, which clients send again.
    pub fn most_bytes_of_bodies(mut self, bytes: usize) -> Self {
        self.most_bytes_of_bodies = bytes;
        self
    }

    /// How many connections of clients there may be at once, at least one. The next one waits until another is closed.
    pub fn most_connections(mut self, connections: usize) -> Self {
        self.most_connections = connections;
        self
    }

    /// How long Redis may take for one request.
    pub fn reply_within(mut self, time: Duration) -> Self {
        self.reply_within = time;
        self
    }

    /// Puts the gateway together, without reaching for Redis yet.
    ///
    /// # Errors
    /// If there is no token, a token is none, both are the same, or the URL cannot be understood.
    pub fn build(self) -> Result<Gateway, StartError> {
        let token = |text: String| Token::try_new(&text).ok_or(StartError::BadToken);
        if self.token.is_some() && self.token == self.read_only_token {
            return Err(StartError::SameToken);
        }
        let full = token(self.token.ok_or(StartError::NoToken)?)?;
        let read_only = self.read_only_token.map(token).transpose()?;
        let backend = Backend::open(&self.redis_url, self.reply_within).map_err(StartError::Url)?;
        let service = Service {
            backend,
            tokens: Tokens::new(full, read_only),
            scripts: Scripts::new(),
            most_body_bytes: self.most_body_bytes,
            room: Room::new(self.most_bytes_of_bodies),
        };
        Ok(Gateway {
            service: Arc::new(service),
            most_connections: self.most_connections.max(1),
            connections: Arc::default(),
        })
    }
}

impl fmt::Debug for GatewayBuilder {
    /// Without what is secret: the tokens, and the URL with its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayBuilder")
            .field("most_body_bytes", &self.most_body_bytes)
            .field("most_bytes_of_bodies", &self.most_bytes_of_bodies)
            .field("most_connections", &self.most_connections)
            .field("reply_within", &self.reply_within)
            .finish_non_exhaustive()
    }
}

/// Why a gateway does not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// There is no token.
    NoToken,
    /// A token is empty or holds something else than visible ASCII.
    BadToken,
    /// The read-only token is the other one.
    SameToken,
    /// Other machines reach the address, and a token could be guessed.
    WeakToken {
        /// The address.
        address: SocketAddr,
    },
    /// The URL of Redis cannot be understood.
    Url(RedisError),
    /// Redis answers but lets the gateway not in.
    Redis {
        /// What it says.
        text: String,
    },
    /// The listener has no address.
    Listener(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoToken => f.write_str("a gateway needs a token"),
            Self::BadToken => f.write_str("a token is at least one visible ASCII character, and no space"),
            Self::SameToken => f.write_str("the read-only token must differ from the other one"),
            Self::WeakToken { address } => write!(
                f,
                "other machines reach {address}: use tokens of at least 32 characters, 8 of them different, or listen on 127.0.0.1"
            ),
            Self::Url(_) => {
                f.write_str("the URL of Redis must read redis://[user][:password@]host[:port][/database]")
            }
            Self::Redis { text } => write!(f, "Redis refuses the connection: {text}"),
            Self::Listener(_) => f.write_str("the listener has no address"),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Url(source) => Some(source),
            Self::Listener(source) => Some(source),
            Self::NoToken
            | Self::BadToken
            | Self::SameToken
            | Self::WeakToken { .. }
            | Self::Redis { .. } => None,
        }
    }
}
