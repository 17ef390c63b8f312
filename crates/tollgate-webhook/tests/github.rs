//! GitHub's signatures: its own example, and everything that is not one.

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use tollgate_webhook::{GITHUB_SIGNATURE, GithubSecrets, SignatureError};

const OLD: &str = "It's a Secret to Everybody";
const NEW: &str = "another secret of some length";
/// The example of GitHub's documentation.
const SIGNATURE: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
const BODY: &[u8] = b"Hello, World!";

fn secrets(secrets: &[&str]) -> GithubSecrets {
    GithubSecrets::new(secrets).unwrap()
}

#[test]
fn githubs_own_example_verifies() {
    let secrets = secrets(&[OLD]);
    assert_eq!(secrets.verify_signature(SIGNATURE.as_bytes(), BODY), Ok(()));
    assert_eq!(secrets.sign(BODY), SIGNATURE);
    let upper = SIGNATURE.to_uppercase().replace("SHA", "sha");
    assert_eq!(secrets.verify_signature(upper.as_bytes(), BODY), Ok(()));
}

#[test]
fn during_a_rotation_either_secret_may_have_signed() {
    let both = secrets(&[NEW, OLD]);
    assert_eq!(both.verify_signature(SIGNATURE.as_bytes(), BODY), Ok(()));
    assert_eq!(both.verify_signature(both.sign(BODY).as_bytes(), BODY), Ok(()));
    assert_eq!(both.sign(BODY), secrets(&[NEW]).sign(BODY), "the first signs");
    let new = secrets(&[NEW]).verify_signature(SIGNATURE.as_bytes(), BODY);
    assert_eq!(new, Err(SignatureError::Mismatch), "once the rotation is over");
}

#[test]
fn each_flipped_bit_of_body_and_signature_fails() {
    let both = secrets(&[NEW, OLD]);
    for bit in 0..8 * BODY.len() {
        let mut body = BODY.to_vec();
        body[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(
            both.verify_signature(SIGNATURE.as_bytes(), &body),
            Err(SignatureError::Mismatch),
            "bit {bit}"
        );
    }
    for bit in 0..8 * SIGNATURE.len() {
        let mut signature = SIGNATURE.as_bytes().to_vec();
        signature[bit / 8] ^= 1 << (bit % 8);
        // Bit 5 turns a letter into its other case, which is the same digit.
        let is_case = bit / 8 >= 7 && bit % 8 == 5 && SIGNATURE.as_bytes()[bit / 8].is_ascii_alphabetic();
        assert_eq!(both.verify_signature(&signature, BODY).is_ok(), is_case, "bit {bit}");
    }
}

#[test]
fn what_is_no_signature_is_told_apart() {
    let secrets = secrets(&[OLD]);
    let hex = &SIGNATURE[7..];
    let malformed = SignatureError::Malformed { header: GITHUB_SIGNATURE };
    for value in [
        "",
        "sha256=",
        hex,
        &format!("sha1={hex}"),
        &format!("SHA256={hex}"),
        &format!("sha256={}", &hex[1..]),
        &format!("sha256={hex}0"),
        &format!("sha256={hex}00"),
        &format!("sha256= {hex}"),
        &format!("{SIGNATURE} "),
        &format!("{SIGNATURE},{SIGNATURE}"),
        &format!("sha256={}g", &hex[1..]),
    ] {
        assert_eq!(secrets.verify_signature(value.as_bytes(), BODY), Err(malformed), "{value:?}");
    }
    assert_eq!(secrets.verify_signature(&[0xFF; 71], BODY), Err(malformed));
}

#[test]
fn the_header_comes_exactly_once() {
    let secrets = secrets(&[OLD]);
    let mut headers = HeaderMap::new();
    let header = GITHUB_SIGNATURE;
    assert_eq!(secrets.verify(&headers, BODY), Err(SignatureError::Missing { header }));
    headers.append(header, HeaderValue::from_static(SIGNATURE));
    assert_eq!(secrets.verify(&headers, BODY), Ok(()));
    headers.append(header, HeaderValue::from_static(SIGNATURE));
    assert_eq!(secrets.verify(&headers, BODY), Err(SignatureError::Repeated { header }));
}

proptest! {
    #[test]
    fn what_is_signed_verifies_and_nothing_else(
        body in proptest::collection::vec(any::<u8>(), 0..200),
        other in proptest::collection::vec(any::<u8>(), 0..200),
        value in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let secrets = secrets(&[OLD, NEW]);
        let signature = secrets.sign(&body);
        prop_assert_eq!(secrets.verify_signature(signature.as_bytes(), &body), Ok(()));
        prop_assert_eq!(secrets.verify_signature(signature.as_bytes(), &other).is_ok(), body == other);
        prop_assert!(secrets.verify_signature(&value, &body).is_err());
    }
}
