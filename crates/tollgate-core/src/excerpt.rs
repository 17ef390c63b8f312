//! The beginning of a text that could not be read, kept without allocating.

use core::fmt;

/// Up to 40 bytes of a text, so that an error can name what it refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Excerpt {
    bytes: [u8; Self::LONGEST],
    length: u8,
    cut: bool,
}

impl Excerpt {
    const LONGEST: usize = 40;

    pub(crate) fn of(text: &str) -> Self {
        let end = text.floor_char_boundary(Self::LONGEST);
        let mut bytes = [0; Self::LONGEST];
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        let length = u8::try_from(end).unwrap_or(0);
        Self { bytes, length, cut: end < text.len() }
    }

    fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.text(), if self.cut { "…" } else { "" })
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Excerpt;
    use std::string::ToString;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(Excerpt::of("1 m").to_string(), "\"1 m\"");
        assert_eq!(Excerpt::of("").to_string(), "\"\"");
        assert_eq!(std::format!("{:?}", Excerpt::of("1\n")), "\"1\\n\"");
        let forty = "x".repeat(40);
        assert_eq!(Excerpt::of(&forty).to_string(), std::format!("\"{forty}\""));
        let long = std::format!("{}é", "x".repeat(39));
        assert_eq!(Excerpt::of(&long).to_string(), std::format!("\"{}\"…", "x".repeat(39)));
    }
}
