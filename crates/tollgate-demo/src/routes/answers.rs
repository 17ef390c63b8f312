//! An answer as a client wants it: whole in JSON, or piece by piece as server-sent events.

use std::{convert::Infallible, error::Error};

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Serialize;
use tollgate_http::Rejection;

use super::live::event;
use crate::answer::{Answer, Collected, ModelError, Piece, Usage};

/// The event `text`.
#[derive(Debug, Serialize)]
struct Text {
    text: String,
}

/// The event `summary`, which follows the text.
#[derive(Debug, Serialize)]
struct Summary {
    /// The names of the pages, best first.
    sources: Vec<String>,
    usage: Usage,
}

/// The event `done`: the answer is complete.
#[derive(Debug, Serialize)]
struct Done {}

/// The event `failed`: the answer is not complete, and nothing follows.
#[derive(Debug, Serialize)]
struct Failed {
    detail: &'static str,
}

/// Answers with events where the client asks for them, else with JSON of the whole.
pub(super) async fn respond<T: Serialize>(
    headers: &HeaderMap,
    answer: Answer,
    json: impl FnOnce(Collected) -> T,
) -> Result<Response, Rejection> {
    let mut response = if wants_events(headers) {
        Sse::new(events(answer)).into_response()
    } else {
        let collected = answer.collect().await.map_err(|error| failed(&error))?;
        Json(json(collected)).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_name(header::ACCEPT));
    Ok(response)
}

/// A model that did not answer is a fault behind this server. Its cause belongs in the log.
pub(crate) fn failed(error: &ModelError) -> Rejection {
    tracing::error!(error = error as &dyn Error, "the model gave no answer");
    Rejection::problem(StatusCode::BAD_GATEWAY, DETAIL)
}

const DETAIL: &str = "the model gave no whole answer; what was asked is counted all the same";

fn events(answer: Answer) -> impl Stream<Item = Result<Event, Infallible>> {
    let sources: Vec<String> = answer.sources.into_iter().map(|found| found.page).collect();
    let ends = answer.pieces.flat_map(move |piece| {
        stream::iter(match piece {
            Ok(Piece::Text(text)) => vec![event("text", &Text { text })],
            Ok(Piece::Usage(usage)) => {
                vec![event("summary", &Summary { sources: sources.clone(), usage }), event("done", &Done {})]
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn Error, "the model gave no whole answer");
                vec![event("failed", &Failed { detail: DETAIL })]
            }
        })
    });
    ends.map(Ok)
}

/// Whether the client names the media type of events, and does not exclude it.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_events = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"));
        let is_excluded =
            |part: &str| part.strip_prefix("q=").is_some_and(|q| q.parse().is_ok_and(|q: f32| q <= 0.0));
        is_events && !parts.any(is_excluded)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_for_those_who_name_them() {
        for (accept, wanted) in [
            ("text/event-stream", true),
            ("application/json, Text/Event-Stream;q=0.5", true),
            ("text/event-stream;q=0", false),
            ("text/event-stream; q=0.000", false),
            ("*/*", false),
            ("text/*", false),
            ("application/json", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(wants_events(&headers), wanted, "{accept}");
        }
        assert!(!wants_events(&HeaderMap::new()));
    }
}
