//! The body of a request, within its bounds.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;

use crate::answer::Refusal;

/// How long a client may take to send its body.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// A body that is too large is read nevertheless, up to so many times the limit: most clients listen only when they
/// have sent it all.
const MOST_DRAINED: usize = 8;

/// The whole body, of at most `most` bytes.
pub(crate) async fn read(headers: &HeaderMap, mut body: Body, most: usize) -> Result<Bytes, Refusal> {
    let too_large = || {
        let text = format!("ERR max request size exceeded. Limit: {most} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let announced = announced.and_then(|text| text.parse().ok()).unwrap_or(0);
    if announced > most && headers.contains_key(header::EXPECT) {
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
