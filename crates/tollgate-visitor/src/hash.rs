//! The keyed hash: a visitor's text that cannot be turned back into an address without the secret.

use std::fmt::{self, Write as _};

use base64::display::Base64Display;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::visitor::KeyText;
use crate::{ConfigError, Visitor};

/// Fewer bytes than the hash has would make guessing the secret easier than guessing the hash.
pub(crate) const MIN_SECRET_BYTES: usize = 16;

/// HMAC-SHA256 under one secret, cut to 128 bits.
///
/// `h1_` + base64url(HMAC(secret, `"v1\0"` + text)\[0..16\]). A plain hash would not do: all IPv4 addresses can be tried
/// in seconds.
#[derive(Clone)]
pub(crate) struct KeyedHash(Hmac<Sha256>);

impl KeyedHash {
    pub(crate) fn new(secret: &[u8]) -> Result<Self, ConfigError> {
        let short = ConfigError::ShortSecret { bytes: secret.len() };
        if secret.len() < MIN_SECRET_BYTES {
            return Err(short);
        }
        Hmac::new_from_slice(secret).map(Self).map_err(|_| short)
    }

    pub(crate) fn visitor(&self, text: &str) -> Visitor {
        let mut mac = self.0.clone();
        mac.update(b"v1\0");
        mac.update(text.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let (kept, _) = digest.split_at(16);
        let mut key = KeyText::new();
        // `h1_` and the 22 characters of 16 bytes are fewer than any text has room for.
        write!(key, "h1_{}", Base64Display::new(kept, &URL_SAFE_NO_PAD)).expect("25 bytes fit");
        Visitor::new(key)
    }
}

impl fmt::Debug for KeyedHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyedHash(..)")
    }
}
