//! The secret half of the credentials.

use std::{borrow::Cow, fmt};

use http::HeaderValue;

/// A token that can be sent and compared, and is never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    text: Box<str>,
    authorization: HeaderValue,
}

impl Token {
    /// Nothing if it is no text that a header field can hold.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mut authorization = HeaderValue::try_from(format!("Bearer {text}")).ok()?;
        authorization.set_sensitive(true);
        Some(Self { text: text.into(), authorization })
    }

    /// The value of the field `Authorization`, marked so that nobody who prints a request shows it.
    pub(crate) const fn authorization(&self) -> &HeaderValue {
        &self.authorization
    }

    /// `text` without the token, wherever it is in it.
    pub(crate) fn conceal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains(&*self.text) { text.replace(&*self.text, "(token)").into() } else { text.into() }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_the_token_nor_its_field_is_shown() {
        let token = Token::new("S3CRET").unwrap();
        let field = token.authorization();
        assert_eq!(field.as_bytes(), b"Bearer S3CRET");
        assert!(!format!("{token:?} {field:?}").contains("S3CRET"));
        assert_eq!(token.conceal("ERR a S3CRET and S3CRET"), "ERR a (token) and (token)");
    }
}
