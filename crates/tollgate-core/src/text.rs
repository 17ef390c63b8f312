//! Limits as text: `30 per 1 m`, `30 per 1 m sliding`, `bucket 100 refill 10 per 1 s`.

use core::{fmt, str::FromStr};

use crate::{Limit, LimitError, WindowError, excerpt::Excerpt};

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FixedWindow { quota, window } => write!(f, "{quota} per {window}"),
            Self::SlidingWindow { quota, window } => write!(f, "{quota} per {window} sliding"),
            Self::TokenBucket { capacity, refill, interval } => {
                write!(f, "bucket {capacity} refill {refill} per {interval}")
            }
        }
    }
}

impl FromStr for Limit {
    type Err = ParseLimitError;

    fn from_str(text: &str) -> Result<Self, ParseLimitError> {
        let form = || ParseLimitError(Refused::Form(Excerpt::of(text)));
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse::<u64>().unwrap_or(u64::MAX)).ok_or_else(form)
        };
        let (count, window) = text.split_once(" per ").ok_or_else(form)?;
        if let Some(bucket) = count.strip_prefix("bucket ") {
            let (capacity, refill) = bucket.split_once(" refill ").ok_or_else(form)?;
            return Ok(Self::try_bucket(number(capacity)?, number(refill)?, window.parse()?)?);
        }
        let quota = number(count)?;
        Ok(match window.strip_suffix(" sliding") {
            Some(window) => Self::try_sliding(quota, window.parse()?)?,
            None => Self::try_fixed(quota, window.parse()?)?,
        })
    }
}

/// A text that is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseLimitError(Refused);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    Form(Excerpt),
    Window(WindowError),
    Limit(LimitError),
}

impl fmt::Display for ParseLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Refused::Form(text) => write!(
                f,
                "{text} is no limit: write `30 per 1 m`, `30 per 1 m sliding` or `bucket 100 refill 10 per 1 s`"
            ),
            Refused::Window(_) => f.write_str("the window of a limit cannot be read"),
            Refused::Limit(_) => f.write_str("the numbers of a limit are out of range"),
        }
    }
}

impl core::error::Error for ParseLimitError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.0 {
            Refused::Form(_) => None,
            Refused::Window(error) => Some(error),
            Refused::Limit(error) => Some(error),
        }
    }
}

impl From<WindowError> for ParseLimitError {
    fn from(error: WindowError) -> Self {
        Self(Refused::Window(error))
    }
}

impl From<LimitError> for ParseLimitError {
    fn from(error: LimitError) -> Self {
        Self(Refused::Limit(error))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::Window;
    use std::string::ToString;

    #[test]
    fn the_text_of_a_limit_reads_back() {
        for (limit, text) in [
            (Limit::fixed(30, Window::MINUTE), "30 per 1 m"),
            (Limit::sliding(0, Window::DAY), "0 per 1 d sliding"),
            (Limit::bucket(100, 10, Window::from_ms(1_500)), "bucket 100 refill 10 per 1500 ms"),
        ] {
            assert_eq!(limit.to_string(), text);
            assert_eq!(text.parse(), Ok(limit));
        }
    }

    #[test]
    fn a_refused_text_is_named() {
        for text in [
            "",
            "30",
            "30 per",
            "30/1 m",
            "-1 per 1 m",
            "+1 per 1 m",
            " 30 per 1 m",
            "bucket 3 per 1 s",
            "1e3 per 1 s",
            "bucket  refill 1 per 1 s",
        ] {
            let error = text.parse::<Limit>().unwrap_err();
            assert!(matches!(error, ParseLimitError(Refused::Form(_))), "{text}");
            assert!(error.to_string().contains(&std::format!("{text:?}")), "{error}");
        }
        assert!(matches!("3 per 1 minute".parse::<Limit>(), Err(ParseLimitError(Refused::Window(_)))));
        assert!(matches!("3 per 1 m fixed".parse::<Limit>(), Err(ParseLimitError(Refused::Window(_)))));
        for text in [
            "bucket 3 refill 0 per 1 s",
            "9007199254740992 per 1 s",
            "99999999999999999999999 per 1 s sliding",
        ] {
            assert!(matches!(text.parse::<Limit>(), Err(ParseLimitError(Refused::Limit(_)))), "{text}");
        }
    }
}
