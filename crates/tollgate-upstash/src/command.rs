//! One call of a script, as it goes over the wire.

use bytes::Bytes;
use tollgate_script::{Call, Dialect, Words};

/// A script and what it is called with.
#[derive(Clone)]
pub(crate) struct Command {
    pub(crate) script: Script,
    /// Everything behind the script: `,2,"key","key","argument"]`.
    tail: Bytes,
}

/// A script's text and the digest that a server knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) sha: &'static str,
    pub(crate) text: &'static str,
}

/// How the script is named in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By its digest: short, and refused by a server that does not know it.
    Digest,
    /// By its text, or by its digest if another command before it in the same request brings the text.
    TextOnce,
    /// By its text, whatever else is in the request.
    Text,
}

impl Form {
    /// What to try when a server did not know the script.
    pub(crate) const fn next(self) -> Option<Self> {
        match self {
            Self::Digest => Some(Self::TextOnce),
            Self::TextOnce => Some(Self::Text),
            Self::Text => None,
        }
    }
}

impl Command {
    pub(crate) fn of(call: &Call) -> Self {
        let script =
            Script { sha: call.script.sha1(Dialect::Upstash), text: call.script.text(Dialect::Upstash) };
        Self::new(script, &call.keys, &call.args)
    }

    /// About how long the command of a call is in the short form.
    pub(crate) fn len_of(call: &Call) -> usize {
        let words = call.keys.len() + call.args.len();
        call.keys.text_len() + call.args.text_len() + 3 * words + 64
    }

    pub(crate) fn new(script: Script, keys: &Words, arguments: &Words) -> Self {
        // Three signs round each word, and a digit or two.
        let words = keys.len() + arguments.len();
        let mut tail = Vec::with_capacity(keys.text_len() + arguments.text_len() + 3 * words + 8);
        tail.push(b',');
        tail.extend_from_slice(keys.len().to_string().as_bytes());
        for text in keys.iter().chain(arguments.iter()) {
            tail.push(b',');
            push_text(&mut tail, text);
        }
        tail.push(b']');
        Self { script, tail: tail.into() }
    }

    /// About how long it is on the wire in the short form.
    pub(crate) fn len(&self) -> usize {
        self.tail.len() + 64
    }

    /// Writes it, with the script's text or its digest.
    pub(crate) fn write(&self, body: &mut Vec<u8>, with_text: bool) {
        let (name, script) =
            if with_text { ("EVAL", self.script.text) } else { ("EVALSHA", self.script.sha) };
        body.push(b'[');
        push_text(body, name);
        body.push(b',');
        push_text(body, script);
        body.extend_from_slice(&self.tail);
    }
}

/// Appends `text` as a JSON string.
fn push_text(body: &mut Vec<u8>, text: &str) {
    // Neither text nor a list of bytes can refuse.
    let _ = serde_json::to_writer(body, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: Script = Script { sha: "e0e1", text: "return \"a\"\n" };

    #[test]
    fn a_command_is_a_json_array() {
        let strange = ["a\"b", "\\", "\u{0}\n\t\u{1f}", "ä€🦀", "\u{7f}\u{2028}", ""];
        let words = |words: &[&'static str]| words.iter().copied().collect();
        let command = Command::new(SCRIPT, &words(&strange[..2]), &words(&strange[2..]));
        for (with_text, name, script) in [(false, "EVALSHA", SCRIPT.sha), (true, "EVAL", SCRIPT.text)] {
            let mut body = Vec::new();
            command.write(&mut body, with_text);
            let read: Vec<serde_json::Value> = serde_json::from_slice(&body).unwrap();
            assert_eq!(read[..2], [name, script]);
            assert_eq!(read[2], 2);
            assert_eq!(read[3..], strange);
        }
    }
}
