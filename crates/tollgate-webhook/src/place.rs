//! What a delivery is claimed under.

use tollgate_store::{ClaimKey, Key, OwnedName, Part};

use crate::{DeliveryId, deliveries::Terms};

/// The key of one delivery, in the form that it is put together from.
#[derive(Debug)]
pub(crate) struct Place {
    name: OwnedName,
    pub(crate) scope: Box<str>,
    pub(crate) id: DeliveryId,
    /// The whole key, in the simple mode.
    literal: Option<String>,
}

impl Place {
    pub(crate) fn new(scope: Box<str>, id: DeliveryId, terms: &Terms) -> Self {
        let literal = terms.simple.as_ref().map(|prefix| format!("{prefix}{id}"));
        Self { name: terms.name.clone(), scope, id, literal }
    }

    pub(crate) fn parts(&self) -> [Part<'_>; 2] {
        [Part::Text(&self.scope), Part::Text(self.id.as_str())]
    }

    pub(crate) fn key<'a>(&'a self, parts: &'a [Part<'a>; 2]) -> ClaimKey<'a> {
        match &self.literal {
            Some(text) => ClaimKey::Literal(text),
            None => ClaimKey::Key(Key::new(self.name.as_name(), parts)),
        }
    }
}
