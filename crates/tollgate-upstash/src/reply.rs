//! What a command was answered, out of JSON.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, SeqAccess, Visitor},
};
use tollgate_script::Reply;

/// What one command was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Reply(Reply),
    /// The server's words.
    Error(String),
    /// The takes it was put together with were refused, and nothing was done: it is to be sent by itself.
    Apart,
}

pub(crate) const NO_ANSWER: &str = "what was answered to a command is no answer: check what is at the URL";

impl Answer {
    /// Reads `{"result": …}` or `{"error": "…"}`, and nothing in between.
    pub(crate) fn read(json: &[u8]) -> Option<Self> {
        let object: Object = serde_json::from_slice(json).ok()?;
        match (object.result, object.error) {
            (Some(reply), None) => Some(Self::Reply(reply)),
            (None, Some(error)) => Some(Self::Error(error)),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Object {
    #[serde(default, deserialize_with = "present")]
    result: Option<Reply>,
    #[serde(default)]
    error: Option<String>,
}

/// A result of `null` is a reply; only one that is not there is none.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Reply>, D::Error> {
    AnyReply.deserialize(deserializer).map(Some)
}

/// Takes what a script answers and nothing else: no booleans, no objects, no number that is not exactly an integer, and no text
/// that is not UTF-8.
#[derive(Clone, Copy)]
struct AnyReply;

impl<'de> DeserializeSeed<'de> for AnyReply {
    type Value = Reply;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Reply, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyReply {
    type Value = Reply;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, an integer, base64 or an array of these")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Reply, E> {
        Ok(Reply::Nil)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Reply, E> {
        Ok(Reply::Int(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Reply, E> {
        i64::try_from(value).map(Reply::Int).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Reply, E> {
        // The one text that is not encoded. Base64 comes in fours, so this is none.
        if value == "OK" {
            return Ok(Reply::Text(value.to_owned()));
        }
        let bytes = STANDARD.decode(value).map_err(|_| E::custom("no base64"))?;
        String::from_utf8(bytes).map(Reply::Text).map_err(|_| E::custom("no UTF-8"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Reply, A::Error> {
        let mut list = Vec::with_capacity(sequence.size_hint().unwrap_or_default().min(64));
        while let Some(reply) = sequence.next_element_seed(self)? {
            list.push(reply);
        }
        Ok(Reply::Array(list))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reply(json: &str) -> Option<Reply> {
        match Answer::read(format!("{{\"result\":{json}}}").as_bytes())? {
            Answer::Reply(reply) => Some(reply),
            Answer::Error(_) | Answer::Apart => None,
        }
    }

    #[test]
    fn values_are_read_exactly() {
        let text = |text: &str| Reply::Text(text.to_owned());
        let table = [
            ("null", Reply::Nil),
            ("0", Reply::Int(0)),
            ("-1", Reply::Int(-1)),
            ("9007199254740993", Reply::Int(9_007_199_254_740_993)),
            ("9223372036854775807", Reply::Int(i64::MAX)),
            ("-9223372036854775808", Reply::Int(i64::MIN)),
            ("\"OK\"", text("OK")),
            ("\"T0s=\"", text("OK")),
            ("\"\"", text("")),
            ("\"MTIz\"", text("123")),
            ("\"8J+mgA==\"", text("🦀")),
            ("[]", Reply::Array(vec![])),
            (
                "[1,\"OK\",[null,\"YQ==\",[\"OK\"]]]",
                Reply::Array(vec![
                    Reply::Int(1),
                    text("OK"),
                    Reply::Array(vec![Reply::Nil, text("a"), Reply::Array(vec![text("OK")])]),
                ]),
            ),
        ];
        for (json, expected) in table {
            assert_eq!(reply(json), Some(expected), "{json}");
        }
    }

    #[test]
    fn what_no_server_says_is_not_read() {
        for json in [
            "1.0",
            "1e3",
            "9223372036854775808",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "true",
            "{}",
            "\"plain text\"",
            "\"YQ\"",
            "\"/+8=\"",
            "[1,",
            "[1,{\"a\":1}]",
            "",
        ] {
            assert_eq!(reply(json), None, "{json}");
        }
    }

    #[test]
    fn an_answer_is_a_result_or_an_error() {
        let error = |text: &str| Answer::Error(text.to_owned());
        assert_eq!(Answer::read(br#"{"error":"ERR no"}"#), Some(error("ERR no")));
        assert_eq!(Answer::read(br#" {"later":[1],"error":"ERR no"} "#), Some(error("ERR no")));
        assert_eq!(Answer::read(br#"{"result":null}"#), Some(Answer::Reply(Reply::Nil)));
        for json in [
            r#"{"result":1,"error":"ERR"}"#,
            r#"{"result":1,"result":2}"#,
            "{}",
            "[]",
            "1",
            "null",
            r#"{"error":1}"#,
            r#"{"error":null}"#,
            r#"{"result":1}x"#,
            r#"{"result":1"#,
            "<html>",
            "",
        ] {
            assert_eq!(Answer::read(json.as_bytes()), None, "{json}");
        }
        let deep = format!("{{\"result\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(Answer::read(deep.as_bytes()), None, "no stack is deep enough for everything");
    }
    fn any_reply() -> impl Strategy<Value = Reply> {
        let leaf = prop_oneof![
            Just(Reply::Nil),
            any::<i64>().prop_map(Reply::Int),
            any::<String>().prop_map(Reply::Text),
            Just(Reply::Text("OK".to_owned())),
        ];
        leaf.prop_recursive(4, 32, 8, |inner| prop::collection::vec(inner, 0..8).prop_map(Reply::Array))
    }

    /// As the service writes it.
    fn written(reply: &Reply) -> String {
        match reply {
            Reply::Nil => "null".to_owned(),
            Reply::Int(number) => number.to_string(),
            Reply::Text(text) => format!("\"{}\"", STANDARD.encode(text)),
            Reply::Array(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(",")),
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(expected in any_reply()) {
            prop_assert_eq!(reply(&written(&expected)), Some(expected));
        }

        #[test]
        fn half_an_answer_is_none(expected in any_reply(), cut in any::<prop::sample::Index>()) {
            let whole = format!("{{\"result\":{}}}", written(&expected));
            prop_assert_eq!(Answer::read(&whole.as_bytes()[..cut.index(whole.len())]), None);
        }

        #[test]
        fn nothing_that_arrives_panics(bytes in any::<Vec<u8>>()) {
            let _ = Answer::read(&bytes);
        }
    }
}
