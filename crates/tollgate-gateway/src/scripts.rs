//! Scripts under the name that the client gave them, although Redis knows them under another.

use std::{borrow::Cow, num::NonZeroUsize};

use lru::LruCache;
use parking_lot::Mutex;
use redis::Value;
use sha1::{Digest, Sha1};

use crate::{parse::Words, reply::Reply, shebang};

/// How many rewritten scripts are remembered; a hundred bytes each. A client whose script was forgotten is told
/// `NOSCRIPT` and sends it again.
const MOST_SCRIPTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not zero");

type Digest20 = [u8; 20];

/// Which text Redis got instead of which, both as SHA-1.
#[derive(Debug)]
pub(crate) struct Scripts {
    sent_for: Mutex<LruCache<Digest20, Digest20>>,
}

/// What was done to a command, and so has to be undone in its reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rewrite {
    /// Nothing.
    Nothing,
    /// Another script than the client's runs: errors must name the client's.
    Run { original: Digest20, sent: Digest20 },
    /// Another script than the client's is loaded: the reply must name the client's.
    Load { original: Digest20 },
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self { sent_for: Mutex::new(LruCache::new(MOST_SCRIPTS)) }
    }

    /// Puts scripts that stock Redis would refuse into words that it takes.
    pub(crate) fn rewrite(&self, words: &mut Words<'_>) -> Rewrite {
        let is = |index: usize, name: &str| {
            words.get(index).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
        };
        if is(0, "EVAL") || is(0, "EVAL_RO") {
            let Some((original, sent)) = self.rewrite_text(words, 1) else { return Rewrite::Nothing };
            Rewrite::Run { original, sent }
        } else if is(0, "EVALSHA") || is(0, "EVALSHA_RO") {
            let Some((original, sent)) = self.rewrite_digest(words, 1) else { return Rewrite::Nothing };
            Rewrite::Run { original, sent }
        } else if is(0, "SCRIPT") && is(1, "LOAD") {
            let Some((original, _)) = self.rewrite_text(words, 2) else { return Rewrite::Nothing };
            Rewrite::Load { original }
        } else if is(0, "SCRIPT") && is(1, "EXISTS") {
            for index in 2..words.len() {
                self.rewrite_digest(words, index);
            }
            Rewrite::Nothing
        } else {
            Rewrite::Nothing
        }
    }

    fn rewrite_text(&self, words: &mut Words<'_>, index: usize) -> Option<(Digest20, Digest20)> {
        let script = words.get_mut(index)?;
        let text = shebang::without_key_locking(script)?;
        let (original, sent) = (Sha1::digest(&**script).into(), Sha1::digest(&text).into());
        *script = Cow::Owned(text);
        self.sent_for.lock().put(original, sent);
        Some((original, sent))
    }

    fn rewrite_digest(&self, words: &mut Words<'_>, index: usize) -> Option<(Digest20, Digest20)> {
        let word = words.get_mut(index)?;
        let original = parse(word)?;
        let sent = *self.sent_for.lock().get(&original)?;
        *word = Cow::Owned(hex(&sent).into_bytes());
        Some((original, sent))
    }
}

impl Rewrite {
    /// The reply as the client's own script would have got it.
    pub(crate) fn undo(&self, reply: Reply) -> Reply {
        match (self, reply) {
            (Self::Load { original }, Ok(Value::BulkString(_))) => {
                Ok(Value::BulkString(hex(original).into_bytes()))
            }
            (Self::Run { original, sent }, Err(text)) => Err(text.replace(&hex(sent), &hex(original))),
            (_, reply) => reply,
        }
    }
}

fn hex(digest: &Digest20) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut text = String::with_capacity(2 * digest.len());
    for byte in digest {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
    text
}

/// A digest in hexadecimal digits of either case, as Redis takes it.
fn parse(text: &[u8]) -> Option<Digest20> {
    let mut digest = Digest20::default();
    if text.len() != 2 * digest.len() {
        return None;
    }
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16)?).ok();
    for (byte, pair) in digest.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINAL: &str = "#!lua flags=allow-key-locking\nreturn 1";
    const SENT: &str = "\nreturn 1";

    fn sha(text: &str) -> Digest20 {
        Sha1::digest(text).into()
    }

    fn rewritten(scripts: &Scripts, words: &[&str]) -> (Vec<String>, Rewrite) {
        let mut words: Words<'_> = words.iter().map(|word| Cow::Borrowed(word.as_bytes())).collect();
        let rewrite = scripts.rewrite(&mut words);
        (words.iter().map(|word| String::from_utf8(word.to_vec()).unwrap()).collect(), rewrite)
    }

    #[test]
    fn a_script_goes_by_its_original_digest() {
        let scripts = Scripts::new();
        let (original, sent) = (hex(&sha(ORIGINAL)), hex(&sha(SENT)));
        let run = Rewrite::Run { original: sha(ORIGINAL), sent: sha(SENT) };

        // Unknown until a text was seen.
        let unknown = ["EVALSHA", &original, "0"];
        assert_eq!(rewritten(&scripts, &unknown), (unknown.map(str::to_owned).to_vec(), Rewrite::Nothing));

        let (words, rewrite) = rewritten(&scripts, &["script", "load", ORIGINAL]);
        assert_eq!((&*words[2], rewrite), (SENT, Rewrite::Load { original: sha(ORIGINAL) }));
        for name in ["evalsha", "EVALSHA_RO"] {
            assert_eq!(rewritten(&scripts, &[name, &original.to_uppercase(), "0"]).0[1], sent);
        }
        let (words, rewrite) = rewritten(&scripts, &["SCRIPT", "EXISTS", &original, "x", &sent]);
        assert_eq!((&words[2..], rewrite), (&[sent.clone(), "x".to_owned(), sent][..], Rewrite::Nothing));
        for name in ["eval", "EVAL_RO"] {
            let (words, rewrite) = rewritten(&scripts, &[name, ORIGINAL, "0"]);
            assert_eq!((&*words[1], &rewrite), (SENT, &run));
        }
    }

    #[test]
    fn other_commands_are_left_alone() {
        let scripts = Scripts::new();
        for words in [
            &["GET", ORIGINAL][..],
            &["EVAL", SENT, "0"],
            &["EVAL"],
            &["EVALSHA"],
            &["SCRIPT"],
            &["SCRIPT", "LOAD"],
            &["SCRIPT", "FLUSH"],
            &["LOAD", "x", ORIGINAL],
            &[],
        ] {
            let unchanged = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(rewritten(&scripts, words), (unchanged, Rewrite::Nothing));
        }
    }

    #[test]
    fn replies_name_the_original() {
        let (original, sent) = (sha(ORIGINAL), sha(SENT));
        let loaded = Rewrite::Load { original }.undo(Ok(Value::BulkString(hex(&sent).into_bytes())));
        assert_eq!(loaded, Ok(Value::BulkString(hex(&original).into_bytes())));
        let text = |digest| format!("ERR x script: {}, on @user_script:1.", hex(digest));
        assert_eq!(Rewrite::Run { original, sent }.undo(Err(text(&sent))), Err(text(&original)));
        assert_eq!(Rewrite::Nothing.undo(Err(text(&sent))), Err(text(&sent)));
        assert_eq!(Rewrite::Load { original }.undo(Err("ERR".to_owned())), Err("ERR".to_owned()));
    }

    #[test]
    fn a_digest_is_forty_digits() {
        assert_eq!(parse(hex(&sha("x")).as_bytes()), Some(sha("x")));
        for text in ["", "x", &"g".repeat(40), &"0".repeat(39), &"0".repeat(41)] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let scripts = Scripts::new();
        for n in 0..=MOST_SCRIPTS.get() {
            rewritten(&scripts, &["EVAL", &format!("{ORIGINAL}{n}"), "0"]);
        }
        assert_eq!(scripts.sent_for.lock().len(), MOST_SCRIPTS.get());
        let forgotten = hex(&sha(&format!("{ORIGINAL}0")));
        assert_eq!(rewritten(&scripts, &["EVALSHA", &forgotten, "0"]).1, Rewrite::Nothing);
    }
}
