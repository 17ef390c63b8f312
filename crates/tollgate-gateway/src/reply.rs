//! Replies of Redis as JSON.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use redis::{ServerError, Value};

/// What a command came to: its value, or the text of its error.
pub(crate) type Reply = Result<Value, String>;

/// How strings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As they are; what is no text becomes U+FFFD.
    Plain,
    /// In base64, so that they survive whatever they hold.
    Base64,
}

pub(crate) fn from_value(value: Value) -> Reply {
    match value {
        Value::ServerError(error) => Err(error_text(&error)),
        value => Ok(value),
    }
}

pub(crate) fn error_text(error: &ServerError) -> String {
    match error.details() {
        Some(details) => format!("{} {details}", error.code()),
        None => error.code().to_owned(),
    }
}

/// Writes `{"result": …}` or `{"error": "…"}`.
pub(crate) fn write(out: &mut Vec<u8>, reply: &Reply, encoding: Encoding) {
    match reply {
        // The official clients take a status `OK` as it is, but only here: deeper down it is a string like others.
        Ok(Value::Okay) => out.extend_from_slice(br#"{"result":"OK"}"#),
        Ok(value) => {
            out.extend_from_slice(br#"{"result":"#);
            write_value(out, value, encoding);
            out.push(b'}');
        }
        Err(text) => write_error(out, text),
    }
}

pub(crate) fn write_error(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(br#"{"error":"#);
    write_json(out, text);
    out.push(b'}');
}

fn write_value(out: &mut Vec<u8>, value: &Value, encoding: Encoding) {
    match value {
        Value::Nil => out.extend_from_slice(b"null"),
        Value::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::Boolean(flag) => out.push(if *flag { b'1' } else { b'0' }),
        Value::BulkString(bytes) => write_string(out, bytes, encoding),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => {
            write_string(out, text.as_bytes(), encoding);
        }
        Value::Okay => write_string(out, b"OK", encoding),
        Value::Double(number) => write_string(out, number.to_string().as_bytes(), encoding),
        Value::ServerError(error) => write_string(out, error_text(error).as_bytes(), encoding),
        Value::Attribute { data, .. } => write_value(out, data, encoding),
        Value::Array(values) | Value::Set(values) | Value::Push { data: values, .. } => {
            write_array(out, values.iter(), encoding);
        }
        Value::Map(pairs) => {
            write_array(out, pairs.iter().flat_map(|(key, value)| [key, value]), encoding);
        }
        // Big numbers exist only in RESP3, which is not spoken here, and the type is open.
        _ => out.extend_from_slice(b"null"),
    }
}

fn write_array<'v>(out: &mut Vec<u8>, values: impl Iterator<Item = &'v Value>, encoding: Encoding) {
    out.push(b'[');
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_value(out, value, encoding);
    }
    out.push(b']');
}

fn write_string(out: &mut Vec<u8>, bytes: &[u8], encoding: Encoding) {
    match encoding {
        Encoding::Plain => write_json(out, &String::from_utf8_lossy(bytes)),
        // Its alphabet needs no escapes.
        Encoding::Base64 => {
            out.push(b'"');
            let start = out.len();
            out.resize(start + bytes.len().div_ceil(3) * 4, 0);
            let written = STANDARD.encode_slice(bytes, &mut out[start..]).expect("the room was made for it");
            out.truncate(start + written);
            out.push(b'"');
        }
    }
}

fn write_json(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("text is JSON, and memory takes everything");
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    fn written(reply: &Reply, encoding: Encoding) -> String {
        let mut out = Vec::new();
        write(&mut out, reply, encoding);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_type_has_its_json() {
        for (value, plain, base64) in [
            (Value::Nil, "null", "null"),
            (Value::Int(i64::MIN), "-9223372036854775808", "-9223372036854775808"),
            (Value::Int(9_007_199_254_740_993), "9007199254740993", "9007199254740993"),
            (bulk("a\"b"), r#""a\"b""#, r#""YSJi""#),
            (bulk(""), r#""""#, r#""""#),
            (bulk("OK"), r#""OK""#, r#""T0s=""#),
            (Value::BulkString(vec![0xff]), "\"\u{fffd}\"", r#""/w==""#),
            (Value::Okay, r#""OK""#, r#""OK""#),
            (Value::SimpleString("PONG".into()), r#""PONG""#, r#""UE9ORw==""#),
            (Value::Double(1.5), r#""1.5""#, r#""MS41""#),
            (Value::Boolean(true), "1", "1"),
            (Value::Boolean(false), "0", "0"),
            (Value::Array(vec![]), "[]", "[]"),
            (
                Value::Array(vec![Value::Okay, Value::Nil, Value::Array(vec![bulk("OK"), Value::Int(1)])]),
                r#"["OK",null,["OK",1]]"#,
                r#"["T0s=",null,["T0s=",1]]"#,
            ),
            (Value::Map(vec![(bulk("a"), Value::Int(1))]), r#"["a",1]"#, r#"["YQ==",1]"#),
            (Value::Set(vec![Value::Int(1), Value::Int(2)]), "[1,2]", "[1,2]"),
        ] {
            for (encoding, json) in [(Encoding::Plain, plain), (Encoding::Base64, base64)] {
                let expected = format!(r#"{{"result":{json}}}"#);
                assert_eq!(written(&Ok(value.clone()), encoding), expected, "{value:?}");
            }
        }
    }

    /// What Redis can reply over RESP2, four levels deep.
    fn values() -> impl Strategy<Value = Value> {
        let one = prop_oneof![
            Just(Value::Nil),
            Just(Value::Okay),
            any::<i64>().prop_map(Value::Int),
            any::<String>().prop_map(|text| Value::BulkString(text.into_bytes())),
            any::<String>().prop_map(Value::SimpleString),
        ];
        one.prop_recursive(4, 32, 4, |inner| vec(inner, 0..4).prop_map(Value::Array))
    }

    /// The JSON without its encoding.
    fn decoded(json: serde_json::Value) -> serde_json::Value {
        match json {
            serde_json::Value::String(text) => {
                String::from_utf8(STANDARD.decode(text).unwrap()).unwrap().into()
            }
            serde_json::Value::Array(values) => values.into_iter().map(decoded).collect(),
            other => other,
        }
    }

    proptest! {
        #[test]
        fn both_encodings_say_the_same(value in values()) {
            let json = |encoding| {
                let text = written(&Ok(value.clone()), encoding);
                serde_json::from_str::<serde_json::Value>(&text).unwrap()["result"].take()
            };
            let encoded = json(Encoding::Base64);
            let encoded = if value == Value::Okay { encoded } else { decoded(encoded) };
            prop_assert_eq!(encoded, json(Encoding::Plain));
        }
    }

    #[test]
    fn errors_are_never_encoded() {
        for encoding in [Encoding::Plain, Encoding::Base64] {
            assert_eq!(written(&Err("ERR \"x\"".into()), encoding), r#"{"error":"ERR \"x\""}"#);
        }
    }
}
