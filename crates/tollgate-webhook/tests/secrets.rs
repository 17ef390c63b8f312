//! Secrets are checked when they are given, and are never shown.

use tollgate_webhook::{GithubSecrets, SecretError, SecretFault, StandardSecrets, StripeSecrets};

const GOOD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn fault(place: usize, fault: SecretFault) -> SecretError {
    SecretError::Secret { place, fault }
}

#[test]
fn githubs_secrets_are_checked_at_once() {
    let long = "x".repeat(64);
    let new = |secrets: &[&str]| {
        let made = GithubSecrets::new(secrets).map(|_| ());
        let text = format!("{made:?} {}", made.err().map(|error| error.to_string()).unwrap_or_default());
        assert!(!text.contains("hunter2"), "{text}");
        made
    };
    assert_eq!(new(&["It's a Secret to Everybody", &long]), Ok(()));
    assert_eq!(new(&[]), Err(SecretError::None));
    assert_eq!(new(&[""]), Err(fault(0, SecretFault::Short { bytes: 0 })));
    assert_eq!(new(&[&long, "hunter2"]), Err(fault(1, SecretFault::Short { bytes: 7 })));
    assert_eq!(new(&["hunter2hunter2hunter2\n"]), Err(fault(0, SecretFault::Space)));
    assert_eq!(new(&[long.as_str(); 16]), Ok(()));
    assert_eq!(new(&[long.as_str(); 17]), Err(SecretError::TooMany));
}

#[test]
fn standard_secrets_are_checked_at_once() {
    let new = |secrets: &[&str]| StandardSecrets::new(secrets).map(|_| ());
    assert_eq!(new(&[GOOD, GOOD.trim_start_matches("whsec_")]), Ok(()));
    assert_eq!(new(&[]), Err(SecretError::None));
    assert_eq!(new(&["whsec_"]), Err(fault(0, SecretFault::Short { bytes: 0 })));
    assert_eq!(new(&["whsec_aHVudGVyMg=="]), Err(fault(0, SecretFault::Short { bytes: 7 })));
    assert_eq!(new(&[GOOD, "whsec_not base64"]), Err(fault(1, SecretFault::NotBase64)));
    assert_eq!(new(&["whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]), Err(fault(0, SecretFault::NotBase64)));
    assert_eq!(new(&[" whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]), Err(fault(0, SecretFault::Space)));
}

#[test]
fn stripes_secrets_are_checked_at_once() {
    let new = |secrets: &[&str]| StripeSecrets::new(secrets).map(|_| ());
    assert_eq!(new(&["whsec_test_secret_of_some_length"]), Ok(()));
    assert_eq!(new(&[]), Err(SecretError::None));
    assert_eq!(new(&["whsec_hunter2"]), Err(fault(0, SecretFault::Short { bytes: 13 })));
    assert_eq!(new(&["whsec_test_secret_of_some_length\n"]), Err(fault(0, SecretFault::Space)));
}

#[test]
fn a_secret_is_in_nobodys_debug() {
    let github = GithubSecrets::new(["hunter2hunter2hunter2"]).unwrap();
    let standard = StandardSecrets::new([GOOD]).unwrap();
    let stripe = StripeSecrets::new(["whsec_hunter2hunter2"]).unwrap();
    let text = format!("{github:?} {standard:?} {stripe:?} {github:#?} {standard:#?} {stripe:#?}");
    assert!(!text.contains("hunter2") && !text.contains("MfKQ") && !text.contains("49, 242"), "{text}");
    assert_eq!(format!("{github:?}"), "GithubSecrets(1)");
}
