//! The signatures of Stripe.

use std::{fmt, time::Duration};

use http::HeaderMap;
use tollgate_core::Timestamp;

use crate::{
    SecretError, SecretFault, SignatureError, hex,
    secret::Keys,
    signature_error::only,
    signatures,
    time::{self, Tolerance},
};

/// The header of the time and the signatures: `t=1614265330,v1=…`, over the time, a dot and the raw body.
pub const STRIPE_SIGNATURE: &str = "stripe-signature";

/// The signing secrets of a Stripe endpoint: the one in use, and during a rotation the one before.
///
/// The signature covers the time and the raw body, and the event's id is in the body: claim deliveries under the `id` of the event.
///
/// ```
/// use tollgate_core::Timestamp;
/// use tollgate_webhook::StripeSecrets;
///
/// let secrets = StripeSecrets::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])?;
/// let value = secrets.sign(1_614_265_330, br#"{"id":"evt_1"}"#);
/// let now = Timestamp::from_unix_ms(1_614_265_331_000);
/// assert!(secrets.verify_signature(value.as_bytes(), br#"{"id":"evt_1"}"#, now).is_ok());
/// assert!(secrets.verify_signature(value.as_bytes(), br#"{"id":"evt_2"}"#, now).is_err());
/// # Ok::<(), tollgate_webhook::SecretError>(())
/// ```
#[derive(Clone)]
pub struct StripeSecrets {
    keys: Keys,
    tolerance: Tolerance,
}

impl StripeSecrets {
    /// These secrets, as Stripe shows them, `whsec_` included. Any of them may have signed; [`StripeSecrets::sign`] uses the first.
    ///
    /// # Errors
    /// Only if there is none or more than 16, or one is shorter than 16 bytes or has white space round it.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Result<Self, SecretError> {
        let read = |secret: S| {
            let secret = secret.as_ref();
            if secret.trim() == secret { Ok(secret.as_bytes().to_vec()) } else { Err(SecretFault::Space) }
        };
        Ok(Self { keys: Keys::new(secrets.into_iter().map(read))?, tolerance: Tolerance::default() })
    }

    /// Allows the time of a request to be this far from now, before or after: five minutes unless told otherwise, a day at most.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = Tolerance::new(tolerance);
        self
    }

    /// Checks that one of the secrets signed this time and raw body, and that the time is near; gives that time.
    ///
    /// # Errors
    /// Only if none did, the time is not near, or [`STRIPE_SIGNATURE`] is not there exactly once and well formed.
    pub fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Timestamp, SignatureError> {
        self.verify_signature(only(headers, STRIPE_SIGNATURE)?, body, now)
    }

    /// Checks what can be told before the body is read: that [`STRIPE_SIGNATURE`] is there once, and well formed.
    ///
    /// # Errors
    /// Only if it is not: [`StripeSecrets::verify`] would give the same error, whatever the body.
    pub fn verify_headers(&self, headers: &HeaderMap) -> Result<(), SignatureError> {
        read(only(headers, STRIPE_SIGNATURE)?).map(|_| ()).ok_or(MALFORMED)
    }

    /// As [`StripeSecrets::verify`], given the value of the header.
    ///
    /// # Errors
    /// Only if no secret signed this, the time is not near, or the value is not well formed.
    pub fn verify_signature(
        &self,
        value: &[u8],
        body: &[u8],
        now: Timestamp,
    ) -> Result<Timestamp, SignatureError> {
        let Signed { timestamp, signed_at, signatures } = read(value).ok_or(MALFORMED)?;
        if !self.keys.have_signed(&[timestamp, b".", body], &signatures) {
            return Err(SignatureError::Mismatch);
        }
        self.tolerance.check(signed_at, now)
    }

    /// The value of the header for this body, at a time in whole seconds: for tests, and for playing a sender.
    #[must_use]
    pub fn sign(&self, timestamp_seconds: u64, body: &[u8]) -> String {
        let timestamp = timestamp_seconds.to_string();
        format!("t={timestamp},v1={}", hex::of(&self.keys.sign(&[timestamp.as_bytes(), b".", body])))
    }
}

const MALFORMED: SignatureError = SignatureError::Malformed { header: STRIPE_SIGNATURE };

/// What the header says.
struct Signed<'a> {
    timestamp: &'a [u8],
    signed_at: Timestamp,
    signatures: Vec<Vec<u8>>,
}

/// The time, which comes once, and the signatures of the version that is an HMAC; what else a list holds is passed over.
fn read(value: &[u8]) -> Option<Signed<'_>> {
    let named =
        |name: &'static [u8]| value.split(|&byte| byte == b',').filter_map(|item| item.strip_prefix(name));
    let mut times = named(b"t=");
    let timestamp = times.next()?;
    if times.next().is_some() {
        return None;
    }
    let signed_at = time::instant(timestamp)?;
    let signatures = signatures::of_list(named(b"v1=").map(hex::read))?;
    Some(Signed { timestamp, signed_at, signatures })
}

/// Without the secrets.
impl fmt::Debug for StripeSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripeSecrets")
            .field("secrets", &self.keys.len())
            .field("tolerance", &self.tolerance)
            .finish()
    }
}
