//! What clients may send, checked before anything is charged.

use axum::{
    Json,
    extract::{FromRequest, Request},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tollgate_http::Rejection;

use crate::problem;

/// The most bytes of a body that are read.
pub(crate) const LONGEST_BODY: usize = 16 * 1024;

/// The most characters of a question, and of a message.
const LONGEST_QUESTION: usize = 500;

/// The most characters of a name: a project, an organization, a page.
const LONGEST_NAME: usize = 64;

/// A JSON body, or a problem that says what is wrong with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Rejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, Rejection> {
        let Json(body) =
            Json::from_request(request, state).await.map_err(|error| problem::bad_body(&error))?;
        Ok(Self(body))
    }
}

/// The name of a project, an organization or a page: lower-case letters, digits and `-`, which neither begins nor ends it.
///
/// Letters are made lower-case: `Acme` and `acme` are one organization, and one count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

impl Name {
    /// Its text.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_name = !text.is_empty()
            && text.len() <= LONGEST_NAME
            && text.bytes().all(is_inside)
            && !text.starts_with('-')
            && !text.ends_with('-');
        if is_name {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err("a name is 1 to 64 letters, digits and `-`, and begins and ends with a letter or digit")
        }
    }
}

/// A question or a message: something besides white space, at most [`LONGEST_QUESTION`] characters.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Question(String);

impl Question {
    /// Its text.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Question {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.chars().count() > LONGEST_QUESTION {
            return Err("a question is 1 to 500 characters, not only white space");
        }
        Ok(Self(trimmed.to_owned()))
    }
}

/// Without the text: what people ask has no place in a log.
impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Question(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_lower_case() {
        let read = |text: &str| Name::try_from(text.to_owned()).map(|name| name.0);
        let longest = "a".repeat(LONGEST_NAME);
        for (text, expected) in
            [("docs", "docs"), ("Acme-2", "acme-2"), ("7", "7"), (longest.as_str(), longest.as_str())]
        {
            assert_eq!(read(text).as_deref(), Ok(expected));
        }
        let too_long = "a".repeat(LONGEST_NAME + 1);
        for text in ["", "-", "-a", "a-", "a b", "a:b", "a/b", "..", "naïve", "a\n", too_long.as_str()] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_question_has_one_to_500_characters() {
        let read = |text: &str| Question::try_from(text.to_owned()).map(|question| question.0);
        assert_eq!(read("  why? ").as_deref(), Ok("why?"));
        assert!(read(&"é".repeat(LONGEST_QUESTION)).is_ok());
        for text in ["", " \n\t ", &"é".repeat(LONGEST_QUESTION + 1)] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
