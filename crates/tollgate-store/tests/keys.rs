//! Keys: which are one, and how they read.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
};

use proptest::prelude::*;
use tollgate_store::{Key, KeyParts, Name, Part, Subject};

use crate::support::key;

/// Keeps what it is fed, so that two keys that hash differently are seen to do so for certain.
#[derive(Default)]
struct Recorder(Vec<u8>);

impl Hasher for Recorder {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

fn hashed(key: &Key<'_>) -> Vec<u8> {
    let mut recorder = Recorder::default();
    key.hash(&mut recorder);
    recorder.0
}

fn parts(texts: &[String]) -> Vec<Part<'_>> {
    texts.iter().map(|text| Part::Text(text)).collect()
}

/// Texts made of the pieces that escapes are made of, so that a wrong one meets another text soon.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        ":", "%", "%3A", "%25", "3A", "25", "#", "%#", "{", "}", "*", "[", "]", "?", " ", "\n", "\0", "\r",
        "\u{7f}", "🦀", "ä", "a", "b", "0", "7", "::/64",
    ]);
    prop_oneof![
        8 => prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => any::<String>(),
        1 => (250..262_usize, "[ab]").prop_map(|(length, end)| "x".repeat(length) + &end),
    ]
}

/// Two lists of one length, often the same or nearly so.
fn lists() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    (1..=4_usize).prop_flat_map(|length| {
        let list = || prop::collection::vec(text(), length);
        prop_oneof![
            list().prop_map(|list| (list.clone(), list)),
            (list(), list()),
            // One part in place of another, or parts in another order.
            (list(), 0..length, text()).prop_map(|(list, at, text)| {
                let mut other = list.clone();
                other[at] = text;
                (list, other)
            }),
            (list(), 0..length).prop_map(|(list, by)| {
                let mut other = list.clone();
                other.rotate_left(by);
                (list, other)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn keys_are_one_in_every_form_or_in_none((one, other) in lists()) {
        let same = one == other;
        let (one, other) = (parts(&one), parts(&other));
        let (one, other) = (key(&one), key(&other));
        prop_assert_eq!(one == other, same);
        prop_assert_eq!(one.to_string() == other.to_string(), same, "{} {}", one, other);
        prop_assert_eq!(one.to_bytes() == other.to_bytes(), same);
        prop_assert_eq!(one.is_bytes(&other.to_bytes()), same);
        prop_assert_eq!(other.is_bytes(&one.to_bytes()), same);
        prop_assert_eq!(hashed(&one) == hashed(&other), same);
    }

    #[test]
    fn a_key_knows_its_own_bytes_alone(
        texts in prop::collection::vec(text(), 0..4),
        cut in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        let parts = parts(&texts);
        let key = key(&parts);
        let bytes = key.to_bytes();
        prop_assert!(key.is_bytes(&bytes));
        prop_assert!(!key.is_bytes(&bytes[..cut.index(bytes.len())]));
        prop_assert!(!key.is_bytes(&[&bytes[..], &[byte]].concat()));
    }

    #[test]
    fn a_number_is_its_decimal_text(number: u64, other: u64) {
        let text = number.to_string();
        let (as_number, as_text) = ([Part::Number(number)], [Part::Text(&text)]);
        prop_assert_eq!(as_number, as_text);
        prop_assert_eq!(Part::Number(number) == Part::Number(other), number == other);
        let (as_number, as_text) = (key(&as_number), key(&as_text));
        prop_assert_eq!(as_number, as_text);
        prop_assert_eq!(as_number.to_string(), as_text.to_string());
        prop_assert_eq!(as_number.to_bytes(), as_text.to_bytes());
        prop_assert_eq!(hashed(&as_number), hashed(&as_text));
    }

    #[test]
    fn the_text_of_a_key_has_nothing_that_a_server_reads_a_meaning_into(texts in prop::collection::vec(text(), 0..4)) {
        let parts = parts(&texts);
        let text = key(&parts).to_string();
        prop_assert!(!text.contains(['{', '}']) && !text.chars().any(|c| c.is_ascii_control()), "{text:?}");
        prop_assert!(text.len() <= "ask".len() + texts.len() * (3 * 256 + 1), "{} bytes", text.len());
    }
}

/// Lists of two parts, of all texts of up to two of these characters and of all of three that begin as an escape does.
#[test]
fn no_two_short_lists_read_the_same() {
    let characters = [":", "%", "{", "#", "2", "5"];
    let mut texts = vec![String::new()];
    for length in 0..3 {
        let shorter: Vec<_> = texts.iter().filter(|text| text.len() == length).cloned().collect();
        texts
            .extend(shorter.iter().flat_map(|text| characters.map(|character| format!("{text}{character}"))));
    }
    texts.retain(|text| text.len() < 3 || text.starts_with('%'));
    let mut seen = HashMap::new();
    for one in &texts {
        for other in &texts {
            let parts = [Part::Text(one), Part::Text(other)];
            let earlier = seen.insert(key(&parts).to_string(), (one, other));
            assert_eq!(earlier, None, "{one:?} and {other:?}");
        }
    }
}

#[test]
fn what_is_readable_stays_readable() {
    let table: [(&[Part<'_>], &str); 13] = [
        (&[], "ask"),
        (&[Part::Text("")], "ask:"),
        (&[Part::Text("docs"), Part::Text("2001:db8:0:0::/64")], "ask:docs:2001:db8:0:0::/64"),
        (&[Part::Text("2001:db8:0:0::/64"), Part::Text("docs")], "ask:2001%3Adb8%3A0%3A0%3A%3A/64:docs"),
        (&[Part::Number(0), Part::Number(u64::MAX)], "ask:0:18446744073709551615"),
        (&[Part::Text("100%")], "ask:100%25"),
        (&[Part::Text("%25")], "ask:%2525"),
        (&[Part::Text("{tag}")], "ask:%7Btag%7D"),
        (&[Part::Text("a\r\n\0\u{7f}b")], "ask:a%0D%0A%00%7Fb"),
        (&[Part::Text("*[a]? b")], "ask:*[a]? b"),
        (&[Part::Text("käse🦀")], "ask:käse🦀"),
        (&[Part::Text(""), Part::Text(""), Part::Text(":")], "ask::::"),
        (&[Part::Text("%#")], "ask:%25#"),
    ];
    for (parts, text) in table {
        assert_eq!(key(parts).to_string(), text);
        assert_eq!(format!("{:?}", key(parts)), text);
    }
}

#[test]
fn a_part_above_256_bytes_is_held_as_its_digest() {
    let text_of = |part: &str| key(&[Part::Text(part)]).to_string();
    let longest = "x".repeat(256);
    assert_eq!(text_of(&longest), format!("ask:{longest}"));
    // As `printf 'x%.0s' {1..257} | sha256sum` says.
    let digest = "15eb95a462ee20bd91a415ae2d4aed341288186ddaa2b37908f7d592f0c3f85f";
    let text = text_of(&"x".repeat(257));
    assert_eq!(text.len(), "ask:%#".len() + digest.len());
    assert_eq!(text, format!("ask:%#{digest}"));
    // The length is that of the text itself, not of what is escaped in it.
    assert_eq!(text_of(&"%".repeat(256)), format!("ask:{}", "%25".repeat(256)));
    // Two bytes each.
    assert!(text_of(&"ä".repeat(129)).starts_with("ask:%#"));

    let long = "y".repeat(10_000);
    let (one, other) = (format!("{long}a"), format!("{long}b"));
    assert_ne!(text_of(&one), text_of(&other));
    assert!(key(&[Part::Text(&long)]).to_bytes().len() < 40);
    // What a digest reads as is another part, not the one it stands for.
    let forged = text_of(&long)["ask:".len()..].to_owned();
    assert_ne!(key(&[Part::Text(&forged)]), key(&[Part::Text(&long)]));
    assert_ne!(text_of(&forged), text_of(&long));
}

#[test]
fn names_are_part_of_a_key() {
    let parts = [Part::Text("a")];
    let keys = ["ask", "ask-a", "aska", "a", "ask:day"].map(|name| Key::new(Name::new(name), &parts));
    for (at, one) in keys.iter().enumerate() {
        for (place, other) in keys.iter().enumerate() {
            assert_eq!(one == other, at == place);
            assert_eq!(one.is_bytes(&other.to_bytes()), at == place, "{one} {other}");
            assert_eq!(hashed(one) == hashed(other), at == place);
        }
    }
    assert_eq!((keys[0].name().as_str(), keys[0].parts()), ("ask", &parts[..]));
}

#[test]
fn values_become_parts() {
    let project = String::from("docs");
    assert_eq!(("docs", 7_u8).into_parts(), [Part::Text("docs"), Part::Number(7)]);
    assert_eq!((&project, 7_u64, "x").into_parts(), [Part::Text("docs"), Part::Text("7"), Part::Text("x")]);
    assert_eq!((1_u16, 2_u32, 3_u64, Part::Text("4")).into_parts().len(), 4);
    assert_eq!("docs".into_parts(), [Part::Text("docs")]);
    assert_eq!(().into_parts(), [Part::Text(""); 0]);
    let (user, visitor) =
        (Subject::User("203.0.113.7").into_parts(), Subject::Visitor("203.0.113.7").into_parts());
    assert_ne!(key(&user).to_string(), key(&visitor).to_string());
    assert_eq!(key(&user).to_string(), "ask:user:203.0.113.7");
    assert!(!format!("{:?}", Subject::Visitor("203.0.113.7")).contains("203"));
}
