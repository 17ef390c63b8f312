//! The body of a request, within its bounds.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::answer::Refusal;

/// What a word takes beside its text, as it is read, put into a command and sent on: measured, with a million of them.
const WORD_BYTES: usize = 80;

/// What a command takes beside its words: measured, with as many as a request may hold.
const COMMAND_BYTES: usize = 512;

/// The memory that the bodies of all requests may take together, and what is made of them, from the first byte until the
/// answer.
#[derive(Debug)]
pub(crate) struct Room {
    kilobytes: Semaphore,
}

/// A body, and its part of the room.
pub(crate) struct Held<'r> {
    pub(crate) bytes: Bytes,
    _part: Option<SemaphorePermit<'r>>,
}

impl Room {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { kilobytes: Semaphore::new((most_bytes / 1024).min(Semaphore::MAX_PERMITS)) }
    }

    /// What so many commands of so many words together take.
    pub(crate) fn for_commands(&self, commands: usize, words: usize) -> Result<SemaphorePermit<'_>, Refusal> {
        self.more(words.saturating_mul(WORD_BYTES).saturating_add(commands.saturating_mul(COMMAND_BYTES)))
    }

    /// So much more, at once or not at all: bodies that waited for each other, each half read, would wait for ever.
    fn more(&self, bytes: usize) -> Result<SemaphorePermit<'_>, Refusal> {
        let kilobytes = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        self.kilobytes.try_acquire_many(kilobytes).map_err(|_| {
            let text = "ERR too many large requests at once: send it again later";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text)
        })
    }
}

/// What has come of a body.
#[derive(Default)]
struct Kept<'r> {
    /// The first piece as it came: most bodies are no more than that.
    first: Option<Bytes>,
    bytes: BytesMut,
    part: Option<SemaphorePermit<'r>>,
}

impl<'r> Kept<'r> {
    fn and(mut self, data: Bytes, room: &'r Room) -> Result<Self, Refusal> {
        if self.first.is_none() && self.bytes.is_empty() {
            self.part = Some(room.more(data.len())?);
            self.first = Some(data);
            return Ok(self);
        }
        if let Some(first) = self.first.take() {
            self = self.copy(&first, room)?;
        }
        self.copy(&data, room)
    }

    fn copy(mut self, data: &[u8], room: &'r Room) -> Result<Self, Refusal> {
        // It may grow to twice what it needs, and that is counted.
        if self.bytes.len() + data.len() > self.bytes.capacity() {
            let more = room.more(data.len().max(self.bytes.capacity()))?;
            match &mut self.part {
                Some(part) => part.merge(more),
                None => self.part = Some(more),
            }
        }
        self.bytes.extend_from_slice(data);
        Ok(self)
    }
}

impl Held<'_> {
    /// The body of a request that has none.
    pub(crate) const fn nothing() -> Self {
        Self { bytes: Bytes::new(), _part: None }
    }
}

/// How long a client may take to send its body.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// A body that is too large is read nevertheless, up to so many times the limit: most clients listen only when they
/// have sent it all.
const MOST_DRAINED: usize = 8;

/// The whole body, of at most `most` bytes.
pub(crate) async fn read<'r>(
    headers: &HeaderMap,
    mut body: Body,
    most: usize,
    room: &'r Room,
) -> Result<Held<'r>, Refusal> {
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
        let (mut kept, mut bytes) = (Ok(Kept::default()), 0);
        while let Some(frame) = body.frame().await {
            let bad = |_| Refusal::new(StatusCode::BAD_REQUEST, "ERR the request body ends too early");
            let Ok(data) = frame.map_err(bad)?.into_data() else { continue };
            bytes += data.len();
            if bytes > most {
                kept = Err(too_large());
                if bytes / MOST_DRAINED > most {
                    break;
                }
            }
            kept = kept.and_then(|kept| kept.and(data, room));
        }
        kept.map(|kept| {
            let bytes = kept.first.unwrap_or_else(|| kept.bytes.freeze());
            Held { bytes, _part: kept.part }
        })
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
