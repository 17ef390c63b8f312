//! Answers over HTTP: JSON always, also where nothing was run.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};

use crate::{backend::Unreachable, parse::ParseError, reply};

/// A request that ends early.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    text: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut out = Vec::new();
        reply::write_error(&mut out, &self.text);
        respond(self.status, out)
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

pub(crate) fn respond(status: StatusCode, body: Vec<u8>) -> Response<Body> {
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
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, POST, PUT"));
        }
        _ => {}
    }
    response
}
