//! Requests as commands: JSON bodies and paths.

use std::{borrow::Cow, cell::Cell, fmt};

use percent_encoding::percent_decode_str;
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The name of a command and its arguments. What needs no unescaping is borrowed from the request.
pub(crate) type Words<'r> = Vec<Cow<'r, [u8]>>;

/// How many commands one request may hold. A body of the largest size could hold millions.
const MOST_COMMANDS: usize = 65_536;

/// How many words they may have together: some versions of Redis hang up at more in one, and each takes some fifty bytes here,
/// however short it is.
const MOST_WORDS: usize = 1_048_576;

/// What a command of a limiter has: room for it is made at once.
const USUAL_WORDS: usize = 16;

/// A request that holds no command.
#[derive(Debug)]
pub(crate) enum ParseError {
    Json(serde_json::Error),
    Empty,
    EmptyItem(usize),
    TooMany,
    TooLong,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "ERR failed to parse the request: {error}"),
            Self::Empty => f.write_str("ERR empty command"),
            Self::EmptyItem(index) => write!(f, "ERR empty command at index {index}"),
            Self::TooLong => write!(f, "ERR too many words in one request: at most {MOST_WORDS}"),
            Self::TooMany => write!(f, "ERR too many commands in one request: at most {MOST_COMMANDS}"),
        }
    }
}

/// One command: `["SET", "key", 1]`.
pub(crate) fn command(body: &[u8]) -> Result<Words<'_>, ParseError> {
    let read = |care| {
        Bounds::new(care).read(body, |bounds, json| CommandSeed(bounds, USUAL_WORDS).deserialize(json))
    };
    let words = read(Care::Plain).or_else(|error| error.again(|| read(Care::Raw)))?;
    if words.is_empty() { Err(ParseError::Empty) } else { Ok(words) }
}

/// Several: `[["SET", "key", 1], ["GET", "key"]]`.
pub(crate) fn commands(body: &[u8]) -> Result<Vec<Words<'_>>, ParseError> {
    let read = |care| Bounds::new(care).read(body, |bounds, json| CommandsSeed(bounds).deserialize(json));
    let commands = read(Care::Plain).or_else(|error| error.again(|| read(Care::Raw)))?;
    match commands.iter().position(Vec::is_empty) {
        _ if commands.is_empty() => Err(ParseError::Empty),
        Some(index) => Err(ParseError::EmptyItem(index)),
        None => Ok(commands),
    }
}

/// How words are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// Fast, and with an error at a word that could lose something.
    Plain,
    /// With each word's own text at hand.
    Raw,
}

impl ParseError {
    /// What was no JSON for a fast reader may be for a careful one. What is too much stays so.
    fn again<T>(self, read: impl FnOnce() -> Result<T, Self>) -> Result<T, Self> {
        match self {
            Self::Json(_) => read(),
            bound => Err(bound),
        }
    }
}

/// What a request has held so far. It is counted while it is read, so that what is too much is never kept.
struct Bounds {
    care: Care,
    commands: Cell<usize>,
    words: Cell<usize>,
}

impl Bounds {
    const fn new(care: Care) -> Self {
        Self { care, commands: Cell::new(0), words: Cell::new(0) }
    }

    fn read<'r, T>(
        &self,
        body: &'r [u8],
        read: impl FnOnce(&Self, &mut Json<'r>) -> serde_json::Result<T>,
    ) -> Result<T, ParseError> {
        // Looked at as a whole, not string by string.
        let text = std::str::from_utf8(body).map_err(|error| ParseError::Json(de::Error::custom(error)))?;
        let mut json = serde_json::Deserializer::from_str(text);
        let read = read(self, &mut json).and_then(|read| json.end().map(|()| read));
        read.map_err(|error| match () {
            () if self.commands.get() > MOST_COMMANDS => ParseError::TooMany,
            () if self.words.get() > MOST_WORDS => ParseError::TooLong,
            () => ParseError::Json(error),
        })
    }
}

type Json<'r> = serde_json::Deserializer<serde_json::de::StrRead<'r>>;

/// Counts one more, up to the first that is too much.
fn count<E: de::Error>(counted: &Cell<usize>, most: usize) -> Result<(), E> {
    counted.set(counted.get() + 1);
    if counted.get() > most { Err(E::custom("too many")) } else { Ok(()) }
}

/// Reads the words of one command, with room for so many at first.
#[derive(Clone, Copy)]
struct CommandSeed<'b>(&'b Bounds, usize);

/// Reads several commands.
struct CommandsSeed<'b>(&'b Bounds);

impl<'de> DeserializeSeed<'de> for CommandSeed<'_> {
    type Value = Words<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for CommandSeed<'_> {
    type Value = Words<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut words = Vec::with_capacity(self.1);
        while let Some(word) = sequence.next_element_seed(self.0.care)? {
            count(&self.0.words, MOST_WORDS)?;
            words.push(word);
        }
        Ok(words)
    }
}

impl<'de> DeserializeSeed<'de> for CommandsSeed<'_> {
    type Value = Vec<Words<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for CommandsSeed<'_> {
    type Value = Vec<Words<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut commands = Vec::new();
        while let Some(words) = sequence.next_element_seed(CommandSeed(self.0, 0))? {
            count(&self.0.commands, MOST_COMMANDS)?;
            commands.push(words);
        }
        Ok(commands)
    }
}

/// The path form: `SET/key`, then the body, then the query, as in `POST /SET/key?EX=100&NX`.
///
/// A body that is empty is none: `POST /INCR/key` has no second argument.
pub(crate) fn path<'r>(path: &'r str, body: &'r [u8], query: &'r str) -> Result<Words<'r>, ParseError> {
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Err(ParseError::Empty);
    }
    let mut words: Words<'r> = path.split('/').map(|word| percent_decode_str(word).into()).collect();
    words.extend(Some(body).filter(|body| !body.is_empty()).map(Cow::Borrowed));
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name == TOKEN_PARAMETER {
            continue;
        }
        words.push(into_bytes(name));
        if !value.is_empty() {
            words.push(into_bytes(value));
        }
    }
    Ok(words)
}

/// The parameter of the query that holds the token instead of a part of the command.
pub(crate) const TOKEN_PARAMETER: &str = "_token";

pub(crate) fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Reads a string, a number or a boolean. Numbers keep their text: through a float, large ones would change.
impl<'de> DeserializeSeed<'de> for Care {
    type Value = Cow<'de, [u8]>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        match self {
            Self::Plain => deserializer.deserialize_any(PlainWord),
            Self::Raw => raw_word(<&RawValue>::deserialize(deserializer)?.get()),
        }
    }
}

/// Takes what has one text only: a string of whole characters, an integer, a boolean.
struct PlainWord;

impl<'de> Visitor<'de> for PlainWord {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plain word")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text.as_bytes()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.as_bytes().to_vec()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(itoa::Buffer::new().format(number).as_bytes().to_vec()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(itoa::Buffer::new().format(number).as_bytes().to_vec()))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(if truth { b"true" } else { b"false" }))
    }
}

fn raw_word<E: de::Error>(raw: &str) -> Result<Cow<'_, [u8]>, E> {
    match raw.as_bytes() {
        [b'"', text @ .., b'"'] if !text.contains(&b'\\') => Ok(Cow::Borrowed(text)),
        [b'"', ..] => unescaped(raw).map(Cow::Owned).map_err(E::custom),
        [b'[' | b'{' | b'n', ..] => Err(E::custom("an argument must be a string, a number or a boolean")),
        _ => Ok(Cow::Borrowed(raw.as_bytes())),
    }
}

/// JavaScript cuts strings in the middle of a character and escapes the half that is left: it becomes U+FFFD,
/// like everything that is no text.
fn unescaped(raw: &str) -> serde_json::Result<Vec<u8>> {
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return Ok(text.into_bytes());
    }
    let bytes = serde_json::from_str::<Bytes>(raw)?.0;
    Ok(String::from_utf8_lossy(&bytes).into_owned().into_bytes())
}

struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl Visitor<'_> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }
        }

        deserializer.deserialize_bytes(BytesVisitor)
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn shown(words: Words<'_>) -> Vec<String> {
        words.into_iter().map(|word| word.escape_ascii().to_string()).collect()
    }

    #[test]
    fn scalars_keep_their_text() {
        for (json, word) in [
            (r#""plain""#, "plain"),
            (r#""""#, ""),
            (r#""a\"b\\c\n""#, r#"a\"b\\c\n"#),
            (r#""\u00e4""#, r"\xc3\xa4"),
            (r#""\ud83d\ude00""#, r"\xf0\x9f\x98\x80"),
            ("9007199254740993", "9007199254740993"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("-1", "-1"),
            ("-0", "-0"),
            ("0", "0"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("-9223372036854775809", "-9223372036854775809"),
            ("1.0", "1.0"),
            ("1.50", "1.50"),
            ("1e3", "1e3"),
            ("true", "true"),
            ("false", "false"),
        ] {
            let body = format!("[ {json} ]");
            assert_eq!(shown(command(body.as_bytes()).unwrap()), [word], "{json}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_client_writes_arrives(words in vec(any::<String>(), 1..8)) {
            let body = serde_json::to_vec(&words).unwrap();
            let read = command(&body).unwrap();
            prop_assert_eq!(read.iter().map(|word| word.to_vec()).collect::<Vec<_>>(), to_bytes(&words));
            let body = serde_json::to_vec(&[&words, &words]).unwrap();
            prop_assert_eq!(commands(&body).unwrap(), [read.clone(), read]);
        }

        #[test]
        fn the_fast_reader_loses_nothing(words in vec("-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?|true|false|\"[a\\\\]?\"", 1..6)) {
            let body = format!("[{}]", words.join(","));
            let read = |care| Bounds::new(care).read(body.as_bytes(), |bounds, json| CommandSeed(bounds, 0).deserialize(json));
            if let Ok(plain) = read(Care::Plain) {
                prop_assert_eq!(plain, read(Care::Raw).unwrap());
            }
        }

        #[test]
        fn whatever_stands_in_a_path_arrives(words in vec(vec(any::<u8>(), 1..9), 1..6), body in vec(any::<u8>(), 1..9)) {
            let escaped: Vec<_> = words.iter().map(|word| percent_encode(word, NON_ALPHANUMERIC).to_string()).collect();
            let whole = escaped.join("/");
            let read = path(&whole, &body, "").unwrap();
            let expected: Vec<_> = words.iter().chain([&body]).map(Vec::as_slice).collect();
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn no_body_is_too_odd(body in vec(any::<u8>(), 0..64), json in "[\\[\\]{}\",:0-9a-z\\\\ -]{0,32}") {
            for body in [&*body, json.as_bytes()] {
                let _ = (command(body), commands(body));
            }
        }
    }

    fn to_bytes(words: &[String]) -> Vec<Vec<u8>> {
        words.iter().map(|word| word.clone().into_bytes()).collect()
    }

    #[test]
    fn half_a_character_is_replaced() {
        let words = command(br#"["a\ud83d"]"#).unwrap();
        let text = std::str::from_utf8(&words[0]).unwrap();
        assert!(text.starts_with("a\u{fffd}"), "{text:?}");
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for body in
            ["", "{", "[", "[]", "{}", "\"GET\"", "null", "[null]", "[[\"GET\"]]", "[{}]", "[\"GET\"] x"]
        {
            assert!(command(body.as_bytes()).is_err(), "{body}");
        }
        for body in ["[]", "[\"GET\"]", "[[]]", "[[\"GET\"],[]]", "[[\"GET\", null]]", "[[[]]]"] {
            assert!(commands(body.as_bytes()).is_err(), "{body}");
        }
        assert!(command(b"[\"\xff\"]").is_err());
        let many = format!("[{}[0]]", "[0],".repeat(MOST_COMMANDS));
        assert!(matches!(commands(many.as_bytes()), Err(ParseError::TooMany)));
        let long = format!("[{}0]", "0,".repeat(MOST_WORDS));
        assert!(matches!(command(long.as_bytes()), Err(ParseError::TooLong)));
        assert!(matches!(commands(format!("[{long}]").as_bytes()), Err(ParseError::TooLong)));
        let half = format!("[0{}]", ",0".repeat(MOST_WORDS / 2));
        assert!(matches!(commands(format!("[{half},{half}]").as_bytes()), Err(ParseError::TooLong)));
        // What comes after it is not even looked at.
        let many = format!("[{}x", "[0],".repeat(MOST_COMMANDS + 1));
        assert!(matches!(commands(many.as_bytes()), Err(ParseError::TooMany)));
        let long = format!("[{}x", "0,".repeat(MOST_WORDS + 1));
        assert!(matches!(command(long.as_bytes()), Err(ParseError::TooLong)));
    }

    #[test]
    fn commands_keep_their_order() {
        let commands = commands(br#"[["SET","k",1],["GET","k"]]"#).unwrap();
        let commands: Vec<_> = commands.into_iter().map(shown).collect();
        assert_eq!(commands, [vec!["SET", "k", "1"], vec!["GET", "k"]]);
    }

    #[test]
    fn a_path_is_a_command() {
        for (given, body, query, words) in [
            ("get/k", &b""[..], "", &["get", "k"][..]),
            ("get/k/", b"", "_token=abc", &["get", "k"]),
            ("set/a%2Fb/c%20d", b"", "EX=100&NX", &["set", "a/b", "c d", "EX", "100", "NX"]),
            ("set/k", b"v\xff", "EX=100", &["set", "k", r"v\xff", "EX", "100"]),
            ("set/k", b"", "", &["set", "k"]),
            ("set/k/%ff", b"", "", &["set", "k", r"\xff"]),
            ("set/k//x", b"", "", &["set", "k", "", "x"]),
        ] {
            assert_eq!(shown(path(given, body, query).unwrap()), words, "{given}");
        }
        assert!(path("", b"", "").is_err());
    }
}
