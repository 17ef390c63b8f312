//! An answer of a model as it is read: the events of chat completions, one after another.

use std::io;

use axum::body::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, Limited, combinators::UnsyncBoxBody};
use reqwest::{Body, Response};
use serde::{Deserialize, de::IgnoredAny};
use sse_stream::SseStream;

use super::{ModelError, Piece, Pieces, Usage};

/// The most bytes of text that are passed on, should the model not keep to that.
const MOST_BYTES: usize = 16 * 1024;

/// The most bytes that are read for them: events say much round each word.
const MOST_READ: usize = 8 * 1024 * 1024;

/// The pieces of an answer to this prompt. Dropping them drops the connection, which tells the model to stop.
pub(super) fn pieces(response: Response, prompt: String) -> Pieces {
    let body = Limited::new(Body::from(response), MOST_READ).map_err(io::Error::other);
    let events = Some(SseStream::new(body.boxed_unsync()));
    let reading = Reading { events, prompt, bytes: 0, usage: None, is_complete: false };
    stream::unfold(reading, Reading::next).boxed()
}

/// An answer that is being read.
struct Reading {
    /// None once the end has been told.
    events: Option<SseStream<UnsyncBoxBody<Bytes, io::Error>>>,
    prompt: String,
    bytes: usize,
    usage: Option<Usage>,
    /// Whether the model has said that its answer is complete.
    is_complete: bool,
}

/// What one event of the stream says. Servers leave out what they have not, or say that it is null.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Counted>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<Piece, ModelError>, Self)> {
        let piece = self.piece().await?;
        if !matches!(piece, Ok(Piece::Text(_))) {
            self.events = None;
        }
        Some((piece, self))
    }

    async fn piece(&mut self) -> Option<Result<Piece, ModelError>> {
        loop {
            let event = match self.events.as_mut()?.next().await {
                Some(Ok(event)) => event,
                Some(Err(error)) => return Some(Err(ModelError::Cut(error))),
                // Some servers leave out the mark that ends a stream. Without any sign of an end it may be half an answer.
                None if self.is_complete => return Some(Ok(self.end())),
                None => return Some(Err(ModelError::Unfinished)),
            };
            let Some(data) = event.data else { continue };
            match data.trim() {
                "" => continue,
                "[DONE]" => return Some(Ok(self.end())),
                _ => {}
            }
            let Ok(chunk) = serde_json::from_str::<Chunk>(&data) else {
                return Some(Err(ModelError::Malformed));
            };
            if chunk.error.is_some() {
                return Some(Err(ModelError::Unfinished));
            }
            if let Some(Counted {
                prompt_tokens: Some(prompt_tokens),
                completion_tokens: Some(completion_tokens),
            }) = chunk.usage
            {
                self.usage = Some(Usage { prompt_tokens, completion_tokens, estimated: false });
            }
            let choices = chunk.choices.unwrap_or_default();
            self.is_complete |= choices.iter().any(|choice| choice.finish_reason.is_some());
            let text: String = choices.into_iter().filter_map(|choice| choice.delta?.content).collect();
            self.bytes += text.len();
            if self.bytes > MOST_BYTES {
                return Some(Err(ModelError::Oversize));
            }
            if !text.is_empty() {
                return Some(Ok(Piece::Text(text)));
            }
        }
    }

    fn end(&self) -> Piece {
        Piece::Usage(self.usage.unwrap_or_else(|| Usage::estimate(&self.prompt, self.bytes)))
    }
}
