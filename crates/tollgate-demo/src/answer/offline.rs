//! Answers in the pages' own words.

use futures_util::{StreamExt as _, stream};

use super::{Answer, Piece, Pieces, Usage};
use crate::Found;

/// What is said where no page answers.
const NOTHING: &str = "No page of this site speaks of that.";

/// About how many bytes a piece has.
const PIECE: usize = 48;

/// The passages themselves, one after another.
pub(crate) fn offline(question: &str, sources: Vec<Found>) -> Answer {
    let texts: Vec<&str> = sources.iter().map(|found| found.text.as_str()).collect();
    let text = if texts.is_empty() { NOTHING.to_owned() } else { texts.join("\n\n") };
    let prompt_tokens = Usage::estimate(question, 0).prompt_tokens;
    Answer { pieces: pieces(question, &text), prompt_tokens, sources }
}

fn pieces(question: &str, text: &str) -> Pieces {
    let usage = Usage::estimate(question, text.len());
    let words = text.split_inclusive([' ', '\n']);
    let mut pieces: Vec<String> = Vec::new();
    for word in words {
        match pieces.last_mut() {
            Some(piece) if piece.len() + word.len() <= PIECE => piece.push_str(word),
            Some(_) | None => pieces.push(word.to_owned()),
        }
    }
    let pieces = pieces.into_iter().map(Piece::Text).chain([Piece::Usage(usage)]).map(Ok);
    // Others have their turn between two pieces, as they would if a model were thinking.
    stream::iter(pieces)
        .then(|piece| async {
            tokio::task::yield_now().await;
            piece
        })
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_pieces_are_the_text_and_then_its_usage() {
        let found = |text: &str| Found { text: text.to_owned(), page: "keys".to_owned() };
        let long = "A key is escaped. ".repeat(20);
        for sources in [vec![], vec![found("One.")], vec![found(&long), found("naïve\n\n```\ncode\n```")]] {
            let expected = match &sources[..] {
                [] => NOTHING.to_owned(),
                some => some.iter().map(|found| found.text.clone()).collect::<Vec<_>>().join("\n\n"),
            };
            let answer = offline("what?", sources.clone());
            let pieces: Vec<Piece> = answer.pieces.map(Result::unwrap).collect().await;
            let texts = pieces.iter().filter(|piece| matches!(piece, Piece::Text(_))).count();
            assert_eq!(texts + 1, pieces.len());
            assert!(texts >= expected.len() / (2 * PIECE), "in pieces");
            let collected = offline("what?", sources).collect().await.unwrap();
            assert_eq!(collected.text, expected);
            assert_eq!(pieces.last(), Some(&Piece::Usage(collected.usage)));
            let tokens = u64::try_from(expected.len().div_ceil(4)).unwrap();
            assert_eq!((collected.usage.prompt_tokens, collected.usage.completion_tokens), (2, tokens));
        }
    }
}
