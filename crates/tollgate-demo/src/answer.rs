//! Answers as they come: pieces of text, and in the end what they cost.
//!
//! Without a model an answer is the pages' own words; with one, the model words it from them. Whoever passes an answer on sees every
//! piece before the client does: [`metered`](crate::metering::metered) notes each, and settles to the [`Usage`] at the end.

mod error;
mod model;
mod offline;
mod reading;

use futures_util::{StreamExt as _, stream::BoxStream};
use serde::Serialize;

pub(crate) use error::ModelError;
pub use model::{Model, ModelConfigError};
pub(crate) use offline::offline;

use crate::Found;

/// An answer and what it is from.
pub(crate) struct Answer {
    /// The passages it is from, best first.
    pub(crate) sources: Vec<Found>,
    /// What is read to answer, by a guess, until the usage says it.
    pub(crate) prompt_tokens: u64,
    /// Its text, then its usage.
    pub(crate) pieces: Pieces,
}

/// The last of them, unless there is an error, is the usage; nothing follows an error.
pub(crate) type Pieces = BoxStream<'static, Result<Piece, ModelError>>;

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Some text.
    Text(String),
    /// What the answer used, all of it.
    Usage(Usage),
}

/// What an answer used, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Usage {
    /// What was read.
    pub(crate) prompt_tokens: u64,
    /// What was written.
    pub(crate) completion_tokens: u64,
    /// Whether nobody counted: then it is a quarter of the bytes.
    pub(crate) estimated: bool,
}

impl Usage {
    /// All of it, in tokens.
    #[must_use]
    pub(crate) const fn tokens(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// A guess, for those who do not count: four bytes a token.
    #[must_use]
    pub(crate) fn estimate(prompt: &str, completion_bytes: usize) -> Self {
        let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
        Self {
            prompt_tokens: tokens(prompt.len()),
            completion_tokens: tokens(completion_bytes),
            estimated: true,
        }
    }
}

impl Answer {
    /// The whole of it.
    ///
    /// # Errors
    /// If the model stopped half way.
    pub(crate) async fn collect(mut self) -> Result<Collected, ModelError> {
        let mut collected = Collected { sources: self.sources, text: String::new(), usage: Usage::default() };
        while let Some(piece) = self.pieces.next().await {
            match piece? {
                Piece::Text(text) => collected.text.push_str(&text),
                Piece::Usage(usage) => collected.usage = usage,
            }
        }
        Ok(collected)
    }
}

/// An answer that is complete.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) sources: Vec<Found>,
    pub(crate) text: String,
    pub(crate) usage: Usage,
}
