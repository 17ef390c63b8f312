//! The signatures of GitHub.

use std::fmt;

use http::HeaderMap;

use crate::{SecretError, SecretFault, SignatureError, hex, secret::Keys, signature_error::only};

/// The header of the signature: `sha256=` and 64 hex digits, over the raw body.
pub const GITHUB_SIGNATURE: &str = "x-hub-signature-256";
/// The header of the delivery's id, the same when GitHub delivers again. The signature does not cover it.
pub const GITHUB_DELIVERY: &str = "x-github-delivery";
/// The header of the kind of event, such as `push`. The signature does not cover it.
pub const GITHUB_EVENT: &str = "x-github-event";
/// The header of the hook's id. The signature does not cover it.
pub const GITHUB_HOOK: &str = "x-github-hook-id";

/// The secrets that GitHub's webhooks may be signed with: the one in use, and during a rotation the one before.
///
/// The signature covers the body alone: neither the delivery's id nor the event's name, and no time. Whoever has once seen a signed
/// body can send it again under another id.
///
/// ```
/// use tollgate_webhook::GithubSecrets;
///
/// let secrets = GithubSecrets::new(["It's a Secret to Everybody"])?;
/// let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
/// assert!(secrets.verify_signature(signature.as_bytes(), b"Hello, World!").is_ok());
/// assert!(secrets.verify_signature(signature.as_bytes(), b"Hello, World?").is_err());
/// # Ok::<(), tollgate_webhook::SecretError>(())
/// ```
#[derive(Clone)]
pub struct GithubSecrets(Keys);

impl GithubSecrets {
    /// These secrets, as they are entered at GitHub. Any of them may have signed; [`GithubSecrets::sign`] uses the first.
    ///
    /// # Errors
    /// Only if there is none or more than 16, or one is shorter than 16 bytes or has white space round it.
    pub fn new<S: AsRef<[u8]>>(secrets: impl IntoIterator<Item = S>) -> Result<Self, SecretError> {
        let read = |secret: S| {
            let secret = secret.as_ref();
            if secret.trim_ascii() == secret { Ok(secret.to_vec()) } else { Err(SecretFault::Space) }
        };
        Keys::new(secrets.into_iter().map(read)).map(Self)
    }

    /// Checks that one of the secrets signed this raw body.
    ///
    /// # Errors
    /// Only if none did, or [`GITHUB_SIGNATURE`] is not there exactly once.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), SignatureError> {
        self.verify_signature(only(headers, GITHUB_SIGNATURE)?, body)
    }

    /// Checks what can be told before the body is read: that [`GITHUB_SIGNATURE`] is there once, and well formed.
    ///
    /// # Errors
    /// Only if it is not: [`GithubSecrets::verify`] would give the same error, whatever the body.
    pub fn verify_headers(&self, headers: &HeaderMap) -> Result<(), SignatureError> {
        read(only(headers, GITHUB_SIGNATURE)?).map(|_| ())
    }

    /// Checks that one of the secrets signed this raw body, given the value of the header.
    ///
    /// # Errors
    /// Only if none did, or the value is not `sha256=` and 64 hex digits.
    pub fn verify_signature(&self, signature: &[u8], body: &[u8]) -> Result<(), SignatureError> {
        let signature = read(signature)?;
        if self.0.have_signed(&[body], &[signature]) { Ok(()) } else { Err(SignatureError::Mismatch) }
    }

    /// The value of the header for this body, as GitHub would send it: for tests, and for playing a sender.
    #[must_use]
    pub fn sign(&self, body: &[u8]) -> String {
        format!("sha256={}", hex::of(&self.0.sign(&[body])))
    }
}

fn read(signature: &[u8]) -> Result<Vec<u8>, SignatureError> {
    let malformed = SignatureError::Malformed { header: GITHUB_SIGNATURE };
    signature.strip_prefix(b"sha256=").and_then(hex::read).ok_or(malformed)
}

/// Without the secrets.
impl fmt::Debug for GithubSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GithubSecrets({})", self.0.len())
    }
}
