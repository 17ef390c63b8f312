//! A length of time, and its text form.

use core::{fmt, str::FromStr, time::Duration};

use crate::excerpt::Excerpt;

/// A length of time in whole milliseconds, from 1 ms to 2^40 ms (34 years).
///
/// Windows are aligned to the Unix epoch: one of [`Window::DAY`] is a UTC day, one of [`Window::HOUR`] starts on the hour.
///
/// # Text
/// A number, an optional space, a unit: `500 ms`, `90s`, `1 m`, `1.5 h`, `1 d`, `2 w`. A fraction is fine as long as the
/// whole is a whole number of milliseconds. [`Display`](fmt::Display) writes the largest unit that needs no fraction,
/// and that text reads back as the same window.
///
/// ```
/// use tollgate_core::Window;
///
/// const MINUTES: Window = Window::from_ms(90_000);
/// assert_eq!("1.5 m".parse(), Ok(MINUTES));
/// assert_eq!(MINUTES.to_string(), "90 s");
/// assert!("10".parse::<Window>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window(u64);

impl Window {
    /// One second.
    pub const SECOND: Self = Self(1_000);
    /// One minute.
    pub const MINUTE: Self = Self(60_000);
    /// One hour.
    pub const HOUR: Self = Self(3_600_000);
    /// One day: the UTC day, where windows are aligned.
    pub const DAY: Self = Self(86_400_000);
    /// Seven days. Aligned to the epoch, it starts on a Thursday.
    pub const WEEK: Self = Self(604_800_000);
    /// The longest window, 2^40 ms.
    pub const MAX: Self = Self(1 << 40);

    /// Makes a window whose length is known when the program is written.
    ///
    /// # Panics
    /// If `ms` is 0 or above [`Window::MAX`]: in a constant that is a compile error. For lengths that arrive at run time
    /// there is [`Window::try_from_ms`].
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        assert!(ms >= 1 && ms <= Self::MAX.0, "a window is 1 ms to 2^40 ms long");
        Self(ms)
    }

    /// Makes a window of so many seconds, known when the program is written.
    ///
    /// # Panics
    /// As [`Window::from_ms`].
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self::from_ms(seconds.saturating_mul(1_000))
    }

    /// Makes a window whose length arrived at run time.
    ///
    /// # Errors
    /// Only if `ms` is 0 or above [`Window::MAX`].
    pub const fn try_from_ms(ms: u64) -> Result<Self, WindowError> {
        if ms >= 1 && ms <= Self::MAX.0 { Ok(Self(ms)) } else { Err(WindowError(Refused::Length(ms))) }
    }

    /// The length in milliseconds, 1 to 2^40.
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.0
    }

    /// The length as a duration.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

/// The units of the text form, largest first.
const UNITS: [(&str, u64); 6] = [
    ("w", Window::WEEK.0),
    ("d", Window::DAY.0),
    ("h", Window::HOUR.0),
    ("m", Window::MINUTE.0),
    ("s", Window::SECOND.0),
    ("ms", 1),
];

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, ms)| self.0.is_multiple_of(*ms));
        let (unit, ms) = whole.copied().unwrap_or(("ms", 1));
        write!(f, "{} {unit}", self.0 / ms)
    }
}

impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let unreadable = || WindowError(Refused::Text(Excerpt::of(text)));
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(unreadable)?;
        let (number, unit) = text.split_at(split);
        let unit = unit.strip_prefix(' ').unwrap_or(unit);
        let (_, unit_ms) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(unreadable)?;
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(unreadable()),
            None => (number, ""),
        };
        if whole.is_empty() {
            return Err(unreadable());
        }
        let ms = exact_ms(whole, fraction, *unit_ms).ok_or_else(unreadable)?;
        Self::try_from_ms(ms).map_err(|_| WindowError(Refused::Range(Excerpt::of(text))))
    }
}

/// `whole.fraction` times `unit_ms`, if that is a whole number; longer numbers than any window saturate.
fn exact_ms(whole: &str, fraction: &str, unit_ms: u64) -> Option<u64> {
    let decimal = |text: &str| {
        text.bytes().try_fold(0u64, |sum, digit| {
            digit.is_ascii_digit().then(|| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
        })
    };
    // A longer fraction that does not end in 0 needs a unit that is a multiple of 2^11 or 5^11: there is none.
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 10 {
        return None;
    }
    let scale = 10u64.pow(u32::try_from(fraction.len()).ok()?);
    let part = decimal(fraction)?.saturating_mul(unit_ms);
    if !part.is_multiple_of(scale) {
        return None;
    }
    Some(decimal(whole)?.saturating_mul(unit_ms).saturating_add(part / scale))
}

/// A length that is no window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowError(Refused);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    Length(u64),
    Text(Excerpt),
    Range(Excerpt),
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Refused::Length(ms) => write!(f, "a window of {ms} ms: use 1 ms to {} ms (2^40)", Window::MAX.0),
            Refused::Range(text) => write!(
                f,
                "{text} is no window: write a number and a unit, as in `1 m`, `90s` or `1.5 h`, that come to 1 ms to {} ms \
                 (2^40)",
                Window::MAX.0
            ),
            Refused::Text(text) => write!(
                f,
                "{text} is no window: write a number and a unit (ms, s, m, h, d, w), as in `1 m`, `90s` or `1.5 h`, \
                 that come to a whole number of milliseconds"
            ),
        }
    }
}

impl core::error::Error for WindowError {}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn text_is_read_strictly() {
        let read = [
            ("1 m", 60_000),
            ("90s", 90_000),
            ("1.5 h", 5_400_000),
            ("500 ms", 500),
            ("1 d", 86_400_000),
            ("2w", 1_209_600_000),
            ("0.001 s", 1),
            ("1.50 s", 1_500),
            ("007 ms", 7),
            ("0.5000000000000000 s", 500),
            ("0.0009765625 w", 590_625),
            ("1.9990234375 d", 172_715_625),
            ("1099511627776 ms", 1 << 40),
        ];
        for (text, ms) in read {
            assert_eq!(text.parse(), Ok(Window::from_ms(ms)), "{text}");
        }
        let refused = [
            "10",
            "10  s",
            "-1 s",
            "+1 s",
            "1e3 ms",
            "",
            " 1 s",
            "1 s ",
            "1 S",
            "1 min",
            "s",
            " s",
            ".5 s",
            "1. s",
            "1..5 s",
            "1.5.5 s",
            "0.5 ms",
            "1.0001 s",
            "0.000000000000000000000000000001 s",
            "0.0000000001 w",
            "0.9999999999 w",
            "0.00048828125 w",
            "1\u{a0}s",
            "١ s",
            "1 m1",
            "1_000 ms",
            "1,5 h",
            "NaN s",
        ];
        for text in refused {
            let error = text.parse::<Window>().unwrap_err().to_string();
            assert!(error.contains(&std::format!("{text:?}")) && error.contains("`90s`"), "{text}: {error}");
        }
        for text in ["0 s", "1099511627777 ms", "99999999999999999999999999 w"] {
            let error = text.parse::<Window>().unwrap_err().to_string();
            assert!(error.contains(&std::format!("{text:?}")) && error.contains("`90s`"), "{text}: {error}");
            assert!(error.contains("1 ms to 1099511627776 ms"), "{text}: {error}");
        }
    }

    #[test]
    fn the_text_of_a_window_reads_back() {
        for (ms, text) in [
            (1, "1 ms"),
            (1_500, "1500 ms"),
            (90_000, "90 s"),
            (5_400_000, "90 m"),
            (604_800_000, "1 w"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(Window::from_ms(ms).to_string(), text);
            assert_eq!(text.parse(), Ok(Window::from_ms(ms)));
        }
    }

    #[test]
    fn lengths_have_bounds() {
        assert!(Window::try_from_ms(0).is_err());
        assert_eq!(Window::try_from_ms(1), Ok(Window::from_ms(1)));
        assert_eq!(Window::try_from_ms(1 << 40), Ok(Window::MAX));
        assert!(Window::try_from_ms((1 << 40) + 1).is_err());
        assert_eq!(Window::from_secs(60), Window::MINUTE);
        assert_eq!(Window::MINUTE.duration().as_secs(), 60);
    }
}
