//! What answers use is settled against the budget of tokens, however they end.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt as _, stream};
use tollgate_guard::{Reservation, Unsettled};

use crate::{
    App,
    answer::{Answer, ModelError, Piece, Pieces, Usage},
};

/// What answers have used since the process began, counted beside the budget, to compare both.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    answers: AtomicU64,
    tokens: AtomicU64,
}

impl Spent {
    /// How many answers have ended, and how many tokens they used.
    pub(crate) fn so_far(&self) -> (u64, u64) {
        (self.answers.load(Ordering::SeqCst), self.tokens.load(Ordering::SeqCst))
    }

    fn add(&self, tokens: u64) {
        self.tokens.fetch_add(tokens, Ordering::SeqCst);
        self.answers.fetch_add(1, Ordering::SeqCst);
    }
}

/// The same answer, with a reservation that each piece is noted in before it is passed on, and that is settled to the usage at the end.
///
/// An answer that is cut off, because its client has gone or the model has failed, is settled to what was read and written until
/// then, at four bytes a token.
pub(crate) fn metered(app: &App, answer: Answer, reservation: Reservation) -> Answer {
    let Answer { sources, prompt_tokens, pieces } = answer;
    reservation.note(prompt_tokens);
    let metered = Metered {
        app: app.clone(),
        pieces,
        reservation: Some(reservation),
        prompt_tokens,
        bytes: 0,
        tokens: prompt_tokens,
    };
    Answer { sources, prompt_tokens, pieces: stream::unfold(metered, Metered::next).boxed() }
}

/// An answer that never began: it used nothing, as far as anybody knows.
pub(crate) async fn not_begun(reservation: Reservation) {
    settled(reservation.settle(0).await);
}

struct Metered {
    app: App,
    pieces: Pieces,
    /// None once it is settled.
    reservation: Option<Reservation>,
    prompt_tokens: u64,
    bytes: usize,
    /// What is used so far.
    tokens: u64,
}

impl Metered {
    async fn next(mut self) -> Option<(Result<Piece, ModelError>, Self)> {
        let piece = self.pieces.next().await;
        match &piece {
            Some(Ok(Piece::Text(text))) => {
                self.bytes = self.bytes.saturating_add(text.len());
                let written = Usage::estimate("", self.bytes).completion_tokens;
                self.tokens = self.prompt_tokens.saturating_add(written);
                if let Some(reservation) = &self.reservation {
                    reservation.note(self.tokens);
                }
            }
            Some(Ok(Piece::Usage(usage))) => {
                self.tokens = usage.tokens();
                self.settle().await;
            }
            Some(Err(_)) | None => self.settle().await,
        }
        Some((piece?, self))
    }

    /// Before the end is told, so that whoever asks again after a whole answer is counted rightly.
    async fn settle(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            settled(reservation.settle(self.tokens).await);
        }
    }
}

/// What could not be settled is tried once more where it is dropped, and that is logged.
fn settled(settled: Result<(), Unsettled>) {
    drop(settled);
}

impl Drop for Metered {
    fn drop(&mut self) {
        // To what was noted. The count comes after, so that it never runs ahead of a store that answers at once.
        drop(self.reservation.take());
        self.app.spent().add(self.tokens);
        self.app.live().tell();
    }
}
