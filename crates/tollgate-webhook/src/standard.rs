//! The signatures of Standard Webhooks.

use std::{fmt, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderMap;
use tollgate_core::Timestamp;

use crate::{
    SecretError, SecretFault, SignatureError,
    secret::Keys,
    signature_error::only,
    signatures,
    time::{self, Tolerance},
};

/// The header of the message's id, the same when it is sent again. The signature covers it.
pub const WEBHOOK_ID: &str = "webhook-id";
/// The header of the time of this attempt, in Unix seconds. The signature covers it.
pub const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
/// The header of the signatures: `v1,` and base64, several with spaces between.
pub const WEBHOOK_SIGNATURE: &str = "webhook-signature";

/// The secrets of a sender that signs as [Standard Webhooks](https://www.standardwebhooks.com/) says.
///
/// The signature covers the id, the time and the raw body. A request that was signed longer ago than the tolerance, or further in the
/// future, is refused: so what was once seen cannot be sent again later.
///
/// ```
/// use tollgate_core::Timestamp;
/// use tollgate_webhook::{StandardHeaders, StandardSecrets};
///
/// let secrets = StandardSecrets::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])?;
/// let headers = StandardHeaders {
///     id: b"msg_p5jXN8AQM9LWM0D4loKWxJek",
///     timestamp: b"1614265330",
///     signature: b"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
/// };
/// let now = Timestamp::from_unix_ms(1_614_265_331_000);
/// assert!(secrets.verify_signature(headers, br#"{"test": 2432232314}"#, now).is_ok());
/// # Ok::<(), tollgate_webhook::SecretError>(())
/// ```
#[derive(Clone)]
pub struct StandardSecrets {
    keys: Keys,
    tolerance: Tolerance,
}

/// The values of the three headers, as they were sent.
#[derive(Clone, Copy, Debug)]
pub struct StandardHeaders<'a> {
    /// [`WEBHOOK_ID`].
    pub id: &'a [u8],
    /// [`WEBHOOK_TIMESTAMP`].
    pub timestamp: &'a [u8],
    /// [`WEBHOOK_SIGNATURE`].
    pub signature: &'a [u8],
}

impl<'a> StandardHeaders<'a> {
    fn of(headers: &'a HeaderMap) -> Result<Self, SignatureError> {
        Ok(Self {
            id: only(headers, WEBHOOK_ID)?,
            timestamp: only(headers, WEBHOOK_TIMESTAMP)?,
            signature: only(headers, WEBHOOK_SIGNATURE)?,
        })
    }

    /// The time and the signatures.
    fn read(&self) -> Result<(Timestamp, Vec<Vec<u8>>), SignatureError> {
        if self.id.is_empty() {
            return Err(SignatureError::Malformed { header: WEBHOOK_ID });
        }
        let signed_at =
            time::instant(self.timestamp).ok_or(SignatureError::Malformed { header: WEBHOOK_TIMESTAMP })?;
        let signatures =
            signatures_of(self.signature).ok_or(SignatureError::Malformed { header: WEBHOOK_SIGNATURE })?;
        Ok((signed_at, signatures))
    }
}

impl StandardSecrets {
    /// How far the time of a request may be from now if nobody says otherwise: five minutes.
    pub const TOLERANCE: Duration = Tolerance::DEFAULT;
    /// The longest tolerance: a day.
    pub const LONGEST_TOLERANCE: Duration = Tolerance::LONGEST;

    /// These secrets, as the sender shows them: `whsec_` and base64, or base64 alone. Any of them may have signed;
    /// [`StandardSecrets::sign`] uses the first.
    ///
    /// # Errors
    /// Only if there is none or more than 16, or one is no base64, has white space round it, or stands for less than 16 bytes.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Result<Self, SecretError> {
        let read = |secret: S| {
            let secret = secret.as_ref();
            if secret.trim() != secret {
                return Err(SecretFault::Space);
            }
            let base64 = secret.strip_prefix("whsec_").unwrap_or(secret);
            STANDARD.decode(base64).map_err(|_| SecretFault::NotBase64)
        };
        let keys = Keys::new(secrets.into_iter().map(read))?;
        Ok(Self { keys, tolerance: Tolerance::default() })
    }

    /// Allows the time of a request to be this far from now, before or after; [`StandardSecrets::LONGEST_TOLERANCE`] at most.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = Tolerance::new(tolerance);
        self
    }

    /// Checks that one of the secrets signed this id, time and raw body, and that the time is near; gives that time.
    ///
    /// # Errors
    /// Only if none did, the time is not near, or one of the three headers is not there exactly once and well formed.
    pub fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Timestamp, SignatureError> {
        self.verify_signature(StandardHeaders::of(headers)?, body, now)
    }

    /// Checks what can be told before the body is read: that the three headers are there once each, and well formed.
    ///
    /// # Errors
    /// Only if one is not: [`StandardSecrets::verify`] would give the same error, whatever the body.
    pub fn verify_headers(&self, headers: &HeaderMap) -> Result<(), SignatureError> {
        StandardHeaders::of(headers)?.read().map(|_| ())
    }

    /// As [`StandardSecrets::verify`], given the values of the headers.
    ///
    /// # Errors
    /// Only if no secret signed this, the time is not near, or a value is not well formed.
    pub fn verify_signature(
        &self,
        headers: StandardHeaders<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Timestamp, SignatureError> {
        let (signed_at, signatures) = headers.read()?;
        let StandardHeaders { id, timestamp, .. } = headers;
        if !self.keys.have_signed(&[id, b".", timestamp, b".", body], &signatures) {
            return Err(SignatureError::Mismatch);
        }
        // Only a genuine sender learns what is wrong with its clock.
        self.tolerance.check(signed_at, now)
    }

    /// The value of [`WEBHOOK_SIGNATURE`] for this, with [`WEBHOOK_TIMESTAMP`] in whole seconds: for tests, and for playing a sender.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp_seconds: u64, body: &[u8]) -> String {
        let timestamp = timestamp_seconds.to_string();
        let signed = self.keys.sign(&[id.as_bytes(), b".", timestamp.as_bytes(), b".", body]);
        format!("v1,{}", STANDARD.encode(signed))
    }
}

/// Without the secrets.
impl fmt::Debug for StandardSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandardSecrets")
            .field("secrets", &self.keys.len())
            .field("tolerance", &self.tolerance)
            .finish()
    }
}

/// The signatures that can be HMACs. Those of other versions are passed over: a sender may use several.
fn signatures_of(value: &[u8]) -> Option<Vec<Vec<u8>>> {
    let words = value.split(|&byte| byte == b' ').filter_map(|word| word.strip_prefix(b"v1,"));
    signatures::of_list(words.map(|base64| STANDARD.decode(base64).ok()))
}
