//! The head of a request: who asks, and for which form of answer.

use std::borrow::Cow;

use axum::http::{HeaderMap, StatusCode, Uri, header, request::Parts};

use crate::{
    answer::Refusal,
    parse,
    reply::Encoding,
    token::{Access, Tokens},
};

/// The most that header fields may hold together.
const MOST_HEADER_BYTES: usize = 32 * 1024;

/// What the client may do.
pub(crate) fn access(head: &Parts, tokens: &Tokens) -> Result<Access, Refusal> {
    let given = match head.headers.get(header::AUTHORIZATION) {
        Some(value) => bearer(value.as_bytes()).map(Cow::Borrowed),
        None => token_parameter(&head.uri),
    };
    let unauthorized = |text| Refusal::new(StatusCode::UNAUTHORIZED, text);
    let given = given.ok_or_else(|| unauthorized("WRONGPASS invalid or missing auth token"))?;
    tokens.access(&given).ok_or_else(|| unauthorized("WRONGPASS invalid password"))
}

/// Refuses header fields that are too large together.
pub(crate) fn check_size(headers: &HeaderMap) -> Result<(), Refusal> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes <= MOST_HEADER_BYTES {
        return Ok(());
    }
    let text = format!("ERR header fields are too large: at most {MOST_HEADER_BYTES} bytes");
    Err(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text))
}

/// How the client wants strings.
pub(crate) fn encoding(headers: &HeaderMap) -> Result<Encoding, Refusal> {
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

fn token_parameter(uri: &Uri) -> Option<Cow<'_, [u8]>> {
    let mut parameters = form_urlencoded::parse(uri.query()?.as_bytes());
    let (_, token) = parameters.find(|(name, _)| name == parse::TOKEN_PARAMETER)?;
    Some(parse::into_bytes(token))
}
