//! One HTTP request: who asks, what is asked, and the answer.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header, request::Parts},
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use redis::Cmd;

use crate::{
    backend::{Backend, Unreachable},
    catalogue,
    parse::{self, ParseError, Words},
    reply::{self, Encoding, Reply},
    scripts::{Rewrite, Scripts},
    token::{Access, Tokens},
};

/// The most that header fields may hold together.
const MOST_HEADER_BYTES: usize = 32 * 1024;

/// How long a client may take to send its body.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// How much of a body that is too large is read nevertheless: most clients listen only when they have sent it all.
const MOST_DRAINED: usize = 8;

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) backend: Backend,
    pub(crate) tokens: Tokens,
    pub(crate) scripts: Scripts,
    pub(crate) most_body_bytes: usize,
}

/// A request that ends early.
struct Refusal {
    status: StatusCode,
    text: String,
}

impl Refusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl From<ParseError> for Refusal {
    fn from(error: ParseError) -> Self {
        let status = match error {
            ParseError::TooMany | ParseError::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            ParseError::Json(_) | ParseError::Empty | ParseError::EmptyItem(_) => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl From<Unreachable> for Refusal {
    fn from(error: Unreachable) -> Self {
        let status = match error {
            Unreachable::Down => StatusCode::SERVICE_UNAVAILABLE,
            Unreachable::Late => StatusCode::GATEWAY_TIMEOUT,
            Unreachable::Garbled => StatusCode::BAD_GATEWAY,
        };
        Self::new(status, error.text())
    }
}

pub(crate) fn router(service: Arc<Service>) -> Router {
    // One handler: everything but three paths is a command, and every error is JSON.
    Router::new().fallback(handle).with_state(service)
}

async fn handle(State(service): State<Arc<Service>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let answer = service.answer(&head, body).await;
    let (status, body) = answer.unwrap_or_else(|refusal| {
        let mut out = Vec::new();
        reply::write_error(&mut out, &refusal.text);
        (refusal.status, out)
    });
    respond(status, body)
}

fn respond(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // A client that sends it back reads its own writes. There is one server, so everybody does anyway.
    headers.insert("upstash-sync-token", HeaderValue::from_static("0"));
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST, PUT"));
        }
        _ => {}
    }
    response
}

type Answer = Result<(StatusCode, Vec<u8>), Refusal>;

impl Service {
    async fn answer(&self, head: &Parts, body: Body) -> Answer {
        let has_body = match head.method {
            Method::POST | Method::PUT => true,
            Method::GET | Method::HEAD => false,
            _ => {
                let text = "ERR method not allowed: only GET, HEAD, POST and PUT are";
                return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text));
            }
        };
        // A base URL that ends in a slash makes paths that begin with two.
        let path = head.uri.path().trim_start_matches('/');
        if path.is_empty() && !has_body {
            return Ok((StatusCode::OK, br#"{"status":"ok"}"#.to_vec()));
        }
        check_size(&head.headers)?;
        let access = self.access(head)?;
        let encoding = encoding(&head.headers)?;
        let body = if has_body { self.read(head, body).await? } else { Bytes::new() };
        match path.trim_end_matches('/') {
            "" => self.single(parse::command(&body)?, access, encoding).await,
            "pipeline" | "multi-exec" if !has_body => {
                Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("ERR /{path} takes a POST")))
            }
            "pipeline" => self.pipeline(parse::commands(&body)?, access, encoding).await,
            "multi-exec" => self.multi_exec(parse::commands(&body)?, access, encoding).await,
            _ => {
                let query = head.uri.query().unwrap_or_default();
                self.single(parse::path(path, &body, query)?, access, encoding).await
            }
        }
    }

    fn access(&self, head: &Parts) -> Result<Access, Refusal> {
        let given = match head.headers.get(header::AUTHORIZATION) {
            Some(value) => bearer(value.as_bytes()).map(<[u8]>::to_vec),
            None => token_parameter(&head.uri),
        };
        let unauthorized = |text| Refusal::new(StatusCode::UNAUTHORIZED, text);
        let given = given.ok_or_else(|| unauthorized("WRONGPASS invalid or missing auth token"))?;
        self.tokens.access(&given).ok_or_else(|| unauthorized("WRONGPASS invalid password"))
    }

    async fn read(&self, head: &Parts, mut body: Body) -> Result<Bytes, Refusal> {
        let most = self.most_body_bytes;
        let too_large = || {
            let text = format!("ERR max request size exceeded. Limit: {most} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
        };
        let announced = head.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let announced = announced.and_then(|text| text.parse().ok()).unwrap_or(0);
        if announced > most && head.headers.contains_key(header::EXPECT) {
            // It waits for an answer before it sends the body.
            return Err(too_large());
        }
        let reading = async {
            let (mut whole, mut bytes) = (BytesMut::new(), 0);
            while let Some(frame) = body.frame().await {
                let bad = |_| Refusal::new(StatusCode::BAD_REQUEST, "ERR the request body ends too early");
                let Ok(data) = frame.map_err(bad)?.into_data() else { continue };
                bytes += data.len();
                if bytes <= most {
                    whole.extend_from_slice(&data);
                } else if bytes / MOST_DRAINED > most {
                    break;
                }
            }
            if bytes > most { Err(too_large()) } else { Ok(whole.freeze()) }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "a bound on how long a client holds a connection; no limit is decided by it"
        )]
        let read = tokio::time::timeout(BODY_WITHIN, reading).await;
        read.unwrap_or_else(|_| {
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "ERR the request body comes too slowly"))
        })
    }

    async fn single(&self, words: Words<'_>, access: Access, encoding: Encoding) -> Answer {
        let (command, rewrite) = match self.prepare(words, access) {
            Ok(prepared) => prepared,
            Err(text) => return Err(Refusal::new(StatusCode::BAD_REQUEST, text)),
        };
        let mut replies = self.backend.run(vec![command]).await?;
        let reply = rewrite.undo(replies.pop().ok_or(Unreachable::Garbled)?);
        let status = if reply.is_ok() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        let mut out = Vec::new();
        reply::write(&mut out, &reply, encoding);
        Ok((status, out))
    }

    async fn pipeline(&self, items: Vec<Words<'_>>, access: Access, encoding: Encoding) -> Answer {
        let (mut commands, mut prepared) = (Vec::new(), Vec::new());
        for words in items {
            prepared.push(self.prepare(words, access).map(|(command, rewrite)| {
                commands.push(command);
                rewrite
            }));
        }
        let mut replies = Vec::new().into_iter();
        if !commands.is_empty() {
            replies = self.backend.run(commands).await?.into_iter();
        }
        let replies = prepared.into_iter().map(|prepared| {
            let rewrite = prepared?;
            rewrite.undo(replies.next().unwrap_or_else(|| Err(Unreachable::Garbled.text().to_owned())))
        });
        Ok((StatusCode::OK, written(replies, encoding)))
    }

    async fn multi_exec(&self, items: Vec<Words<'_>>, access: Access, encoding: Encoding) -> Answer {
        let discarded = |text: String| Refusal::new(StatusCode::BAD_REQUEST, text);
        let prepared = items.into_iter().map(|words| self.prepare(words, access));
        let prepared: Vec<_> = prepared.collect::<Result<_, _>>().map_err(discarded)?;
        let (commands, rewrites): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
        let replies = self.backend.transact(commands).await?.map_err(discarded)?;
        let replies = rewrites.iter().zip(replies).map(|(rewrite, reply)| rewrite.undo(reply));
        Ok((StatusCode::OK, written(replies, encoding)))
    }

    /// A command as Redis gets it, or the error that the client gets instead.
    fn prepare(&self, mut words: Words<'_>, access: Access) -> Result<(Cmd, Rewrite), String> {
        if let Some(text) = catalogue::refusal(&words, access) {
            return Err(text);
        }
        let rewrite = self.scripts.rewrite(&mut words);
        let mut command = Cmd::with_capacity(words.len(), words.iter().map(|word| word.len()).sum());
        for word in &words {
            command.arg(&**word);
        }
        Ok((command, rewrite))
    }
}

fn written(replies: impl Iterator<Item = Reply>, encoding: Encoding) -> Vec<u8> {
    let mut out = vec![b'['];
    for (index, reply) in replies.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        reply::write(&mut out, &reply, encoding);
    }
    out.push(b']');
    out
}

fn check_size(headers: &HeaderMap) -> Result<(), Refusal> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes <= MOST_HEADER_BYTES {
        return Ok(());
    }
    let text = format!("ERR header fields are too large: at most {MOST_HEADER_BYTES} bytes");
    Err(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text))
}

fn encoding(headers: &HeaderMap) -> Result<Encoding, Refusal> {
    let is = |name: &str, word: &str| {
        headers.get(name).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(word.as_bytes()))
    };
    if headers.contains_key("upstash-response-format") && !is("upstash-response-format", "json") {
        let text = "ERR unsupported response format: this gateway answers in json";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
    }
    Ok(if is("upstash-encoding", "base64") { Encoding::Base64 } else { Encoding::Plain })
}

/// What follows `Bearer `. The name of the scheme has no case.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

fn token_parameter(uri: &Uri) -> Option<Vec<u8>> {
    let mut parameters = form_urlencoded::parse(uri.query()?.as_bytes());
    let (_, token) = parameters.find(|(name, _)| name == parse::TOKEN_PARAMETER)?;
    Some(token.into_owned().into_bytes())
}
