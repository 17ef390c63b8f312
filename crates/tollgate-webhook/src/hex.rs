//! Signatures as hex digits.

use std::fmt::Write as _;

/// 64 lower-case digits.
pub(crate) fn of(bytes: &[u8; 32]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Text takes all that is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// 32 bytes out of 64 digits, of either case.
pub(crate) fn read(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_chunks::<2>();
    if pairs.len() != 32 || !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}
