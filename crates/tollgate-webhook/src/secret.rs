//! Secrets that sign and verify, and are never shown.

use std::{error::Error, fmt};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Several keys of HMAC-SHA256, any of which may have signed.
#[derive(Clone)]
pub(crate) struct Keys(Box<[Hmac<Sha256>]>);

/// A key that is shorter could be guessed from one signature.
pub(crate) const LEAST_BYTES: usize = 16;
/// A rotation has two or three. What is beyond costs every request an HMAC.
pub(crate) const MOST_SECRETS: usize = 16;

impl Keys {
    /// Each with its place in the list, counted from 0, for the error.
    pub(crate) fn new(
        secrets: impl IntoIterator<Item = Result<Vec<u8>, SecretFault>>,
    ) -> Result<Self, SecretError> {
        let mut keys = Vec::new();
        for (place, secret) in secrets.into_iter().enumerate() {
            let wrong = |fault| SecretError::Secret { place, fault };
            if place == MOST_SECRETS {
                return Err(SecretError::TooMany);
            }
            let secret = secret.map_err(wrong)?;
            if secret.len() < LEAST_BYTES {
                return Err(wrong(SecretFault::Short { bytes: secret.len() }));
            }
            // HMAC takes a key of any length.
            let key = Hmac::new_from_slice(&secret).map_err(|_| wrong(SecretFault::Short { bytes: 0 }))?;
            keys.push(key);
        }
        if keys.is_empty() { Err(SecretError::None) } else { Ok(Self(keys.into())) }
    }

    /// Whether one of the keys made one of the signatures. Every pair is compared, each in constant time, so that the time it takes tells
    /// neither which matched nor how much of one did.
    pub(crate) fn have_signed(&self, parts: &[&[u8]], signatures: &[Vec<u8>]) -> bool {
        let mut is_signed = false;
        for key in &self.0 {
            let mac = with(key, parts);
            for signature in signatures {
                is_signed |= mac.clone().verify_slice(signature).is_ok();
            }
        }
        is_signed
    }

    /// The signature of the first key.
    pub(crate) fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        // `new` has seen to it that there is one.
        self.0.first().map_or([0; 32], |key| with(key, parts).finalize().into_bytes().into())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

fn with(key: &Hmac<Sha256>, parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = key.clone();
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// Secrets that nothing can be verified with. It repeats nothing of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretError {
    /// There is none.
    None,
    /// There are more than a rotation needs.
    TooMany,
    /// One of them cannot be used.
    Secret {
        /// Which, counted from 0.
        place: usize,
        /// What is wrong with it.
        fault: SecretFault,
    },
}

/// What is wrong with a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretFault {
    /// It is so short that it could be guessed.
    Short {
        /// Its length in bytes.
        bytes: usize,
    },
    /// White space round it, mostly a line end out of a file.
    Space,
    /// It should be base64, and is not.
    NotBase64,
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("there is no secret: give at least one, as the sender has it"),
            Self::TooMany => {
                write!(f, "there are more than {MOST_SECRETS} secrets: drop those that nobody signs with")
            }
            Self::Secret { place, fault } => {
                write!(f, "secret {place}, counted from 0, cannot be used: {fault}")
            }
        }
    }
}

impl fmt::Display for SecretFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { bytes } => write!(
                f,
                "it has {bytes} bytes and could be guessed: use at least {LEAST_BYTES}, for instance of `openssl rand -hex 32`"
            ),
            Self::Space => {
                f.write_str("it begins or ends with white space: a file's line end may have come along")
            }
            Self::NotBase64 => {
                f.write_str("it is no base64: it looks like `whsec_` and then base64, as the sender shows it")
            }
        }
    }
}

impl Error for SecretError {}
impl Error for SecretFault {}
