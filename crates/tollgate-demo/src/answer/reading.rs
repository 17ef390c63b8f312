//! An answer of a model as it is read: the events of chat completions, one after another.

use futures_util::{StreamExt as _, stream};
use reqwest::{Body, Response};
use serde::{Deserialize, de::IgnoredAny};
use sse_stream::SseStream;

use super::{ModelError, Piece, Pieces, Usage};

/// The most bytes of text that are passed on, should the model not keep to that.
const MOST_BYTES: usize = 16 * 1024;

/// The pieces of an answer to this prompt. Dropping them drops the connection, which tells the model to stop.
pub(super) fn pieces(response: Response, prompt: String) -> Pieces {
    let events = Some(SseStream::new(Body::from(response)));
    let reading = Reading { events, prompt, bytes: 0, usage: None, is_complete: false };
    stream::unfold(reading, Reading::next).boxed()
}

/// An answer that is being read.
struct Reading {
    /// None once the end has been told.
    events: Option<SseStream<Body>>,
    prompt: String,
    bytes: usize,
    usage: Option<Usage>,
    /// Whether the model has said that its answer is complete.
    is_complete: bool,
}

/// What one event of the stream says.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Counted>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    prompt_tokens: u64,
    completion_tokens: u64,
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
            if data.trim() == "[DONE]" {
                return Some(Ok(self.end()));
            }
            let Ok(chunk) = serde_json::from_str::<Chunk>(&data) else {
                return Some(Err(ModelError::Malformed));
            };
            if chunk.error.is_some() {
                return Some(Err(ModelError::Unfinished));
            }
            if let Some(Counted { prompt_tokens, completion_tokens }) = chunk.usage {
                self.usage = Some(Usage { prompt_tokens, completion_tokens, estimated: false });
            }
            self.is_complete |= chunk.choices.iter().any(|choice| choice.finish_reason.is_some());
            let text: String = chunk.choices.into_iter().filter_map(|choice| choice.delta.content).collect();
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
