//! What can go wrong between this server and a model.

use std::{error::Error, fmt};

/// A model that gave no answer, or not the whole.
#[derive(Debug)]
pub(crate) enum ModelError {
    /// It cannot be reached.
    Unreachable(reqwest::Error),
    /// It answered with another status than success.
    Status(u16),
    /// The connection broke.
    Cut(sse_stream::Error),
    /// The stream ended without its mark, or with an error of the model.
    Unfinished,
    /// What it said is not of the protocol.
    Malformed,
    /// It said more than it may.
    Oversize,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(_) => f.write_str("the model cannot be reached: check OPENAI_BASE_URL"),
            Self::Status(status) => {
                write!(f, "the model answered {status}: check OPENAI_API_KEY and OPENAI_MODEL")
            }
            Self::Cut(_) => f.write_str("the model's answer was cut off"),
            Self::Unfinished => f.write_str("the model ended its answer half way"),
            Self::Malformed => f.write_str("the model does not speak the protocol of chat completions"),
            Self::Oversize => f.write_str("the model said more than an answer may have"),
        }
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable(error) => Some(error),
            Self::Cut(error) => Some(error),
            Self::Status(_) | Self::Unfinished | Self::Malformed | Self::Oversize => None,
        }
    }
}
