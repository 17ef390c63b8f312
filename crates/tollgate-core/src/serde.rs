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
        Self::try_new(u64::deserialize(deserializer)?).map_err(D::Error::custom)
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
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// A limit as a table of one entry: `{ sliding-window = { quota = 30, window = "1 m" } }`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Structured {
    FixedWindow { quota: Units, window: Window },
    SlidingWindow { quota: Units, window: Window },
    TokenBucket { capacity: Units, refill: Units, interval: Window },
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::FixedWindow { quota, window } => Structured::FixedWindow { quota, window },
            Self::SlidingWindow { quota, window } => Structured::SlidingWindow { quota, window },
            Self::TokenBucket { capacity, refill, interval } => {
                Structured::TokenBucket { capacity, refill, interval }
            }
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrTable;

        impl<'de> Visitor<'de> for TextOrTable {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a limit such as \"30 per 1 m\", or a table with one of fixed-window, sliding-window, token-bucket")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Limit, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Limit, A::Error> {
                Ok(match Structured::deserialize(MapAccessDeserializer::new(map))? {
                    Structured::FixedWindow { quota, window } => Limit::FixedWindow { quota, window },
                    Structured::SlidingWindow { quota, window } => Limit::SlidingWindow { quota, window },
                    Structured::TokenBucket { capacity, refill, interval } => {
                        Limit::try_bucket(capacity.get(), refill.get(), interval).map_err(A::Error::custom)?
                    }
                })
            }
        }

        deserializer.deserialize_any(TextOrTable)
    }
}
