//! Limits, windows and the like in configuration files.
//!
//! A [`Window`] is its text (`"1 m"`), [`Units`] and [`Timestamp`] are numbers. A [`Limit`] is written structured, and read
//! structured or as its text.

use core::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::{Limit, Timestamp, Units, Window};

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.get())
    }
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_new(u64::deserialize(deserializer)?).map_err(refuse)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.unix_ms())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Self::from_unix_ms)
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Window;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a window such as \"1 m\" or \"90s\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Window, E> {
                text.parse().map_err(refuse)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// A limit as a table of one entry: `{ sliding-window = { quota = 30, window = "1 m" } }`.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Table {
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_window: Option<Counted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sliding_window: Option<Counted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_bucket: Option<Refilled>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    quota: Units,
    window: Window,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Refilled {
    capacity: Units,
    refill: Units,
    interval: Window,
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Table::default();
        match *self {
            Self::FixedWindow { quota, window } => table.fixed_window = Some(Counted { quota, window }),
            Self::SlidingWindow { quota, window } => table.sliding_window = Some(Counted { quota, window }),
            Self::TokenBucket { capacity, refill, interval } => {
                table.token_bucket = Some(Refilled { capacity, refill, interval });
            }
        }
        table.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrTable;

        impl<'de> Visitor<'de> for TextOrTable {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a limit such as \"30 per 1 m\", or a table with one of fixed-window, sliding-window, token-bucket",
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Limit, E> {
                text.parse().map_err(refuse)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Limit, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                match (table.fixed_window, table.sliding_window, table.token_bucket) {
                    (Some(Counted { quota, window }), None, None) => Ok(Limit::FixedWindow { quota, window }),
                    (None, Some(Counted { quota, window }), None) => {
                        Ok(Limit::SlidingWindow { quota, window })
                    }
                    (None, None, Some(Refilled { capacity, refill, interval })) => {
                        Limit::try_bucket(capacity.get(), refill.get(), interval).map_err(refuse)
                    }
                    _ => Err(A::Error::custom(
                        "a limit is a table of exactly one entry: fixed-window, sliding-window or token-bucket",
                    )),
                }
            }
        }

        deserializer.deserialize_any(TextOrTable)
    }
}

/// Keeps the whole chain of reasons: an error of a configuration file has no source to look into.
fn refuse<E: Error>(error: impl core::error::Error) -> E {
    struct Reasons<'a>(&'a dyn core::error::Error);

    impl fmt::Display for Reasons<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", self.0)?;
            match self.0.source() {
                Some(source) => write!(f, ": {}", Reasons(source)),
                None => Ok(()),
            }
        }
    }

    E::custom(Reasons(&error))
}
