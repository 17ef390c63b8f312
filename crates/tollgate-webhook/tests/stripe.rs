//! Stripe's signatures: a value of `openssl`, times, and everything that is not one.

use proptest::prelude::*;
use tollgate_core::Timestamp;
use tollgate_webhook::{STRIPE_SIGNATURE, SignatureError, StripeSecrets};

const SECRET: &str = "whsec_test_secret_of_some_length";
const SENT: u64 = 1_614_265_330;
const BODY: &[u8] = br#"{"id":"evt_1","type":"invoice.paid"}"#;
/// `printf '1614265330.{"id":"evt_1","type":"invoice.paid"}' | openssl dgst -sha256 -hmac whsec_test_secret_of_some_length`
const HEX: &str = "88e4a69f493b4ba8c077dedf412c2a08d7b4d9ed2dbcf599648625793202bb2c";

fn secrets() -> StripeSecrets {
    StripeSecrets::new([SECRET]).unwrap()
}

const fn at(seconds: u64) -> Timestamp {
    Timestamp::from_unix_ms(seconds * 1_000)
}

fn verify(value: &str, now: Timestamp) -> Result<Timestamp, SignatureError> {
    secrets().verify_signature(value.as_bytes(), BODY, now)
}

#[test]
fn what_openssl_signs_verifies() {
    let value = format!("t=1614265330,v1={HEX}");
    assert_eq!(secrets().sign(SENT, BODY), value);
    assert_eq!(verify(&value, at(SENT)), Ok(at(SENT)));
    assert_eq!(verify(&value, at(SENT + 300)), Ok(at(SENT)));
    assert_eq!(verify(&value, at(SENT + 301)), Err(SignatureError::TooOld));
    assert_eq!(verify(&value, at(SENT - 301)), Err(SignatureError::TooNew));
}

#[test]
fn a_list_may_hold_more_than_one() {
    let other = "0".repeat(64);
    for value in [
        format!("t=1614265330,v1={other},v1={HEX},v0=nonsense"),
        format!("v1={HEX},t=1614265330"),
        format!("t=1614265330,v0={HEX},v1={HEX}"),
        format!("t=1614265330,v1=,v1={HEX},v1=nonsense"),
    ] {
        assert!(verify(&value, at(SENT)).is_ok(), "{value}");
    }
    let rotated = StripeSecrets::new(["whsec_another_of_some_length", SECRET]).unwrap();
    assert!(rotated.verify_signature(format!("t=1614265330,v1={HEX}").as_bytes(), BODY, at(SENT)).is_ok());
    for value in [
        String::new(),
        format!("v1={HEX}"),
        "t=1614265330".to_owned(),
        format!("t=1614265330,v0={HEX}"),
        format!("t=1614265330,t=1614265330,v1={HEX}"),
        format!("t=-9223372036854775808,v1={HEX}"),
        format!("t=18446744073709551616,v1={HEX}"),
        format!("t=,v1={HEX}"),
        format!("t=1614265330,v1={}", &HEX[1..]),
        format!("t=1614265330,{}", vec![format!("v1={HEX}"); 17].join(",")),
    ] {
        let malformed = Err(SignatureError::Malformed { header: STRIPE_SIGNATURE });
        for now in [Timestamp::EPOCH, at(SENT), Timestamp::MAX] {
            assert_eq!(verify(&value, now), malformed, "{value}");
        }
    }
}

#[test]
fn each_flipped_bit_fails() {
    let value = format!("t=1614265330,v1={HEX}");
    for bit in 0..8 * BODY.len() {
        let mut body = BODY.to_vec();
        body[bit / 8] ^= 1 << (bit % 8);
        assert!(secrets().verify_signature(value.as_bytes(), &body, at(SENT)).is_err(), "bit {bit}");
    }
    for bit in 0..8 * value.len() {
        let mut flipped = value.clone().into_bytes();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // Bit 5 turns a letter into its other case, which is the same digit.
        let is_case = bit / 8 >= 16 && bit % 8 == 5 && value.as_bytes()[bit / 8].is_ascii_alphabetic();
        assert_eq!(secrets().verify_signature(&flipped, BODY, at(SENT)).is_ok(), is_case, "bit {bit}");
    }
}

proptest! {
    #[test]
    fn nothing_that_is_sent_panics_or_verifies(
        value in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..120),
            "(t=[-0-9]{0,25},?)?(v1=[0-9a-f]{64},?){0,20}".prop_map(String::into_bytes),
        ],
        now in any::<u64>(),
    ) {
        prop_assert!(secrets().verify_signature(&value, BODY, Timestamp::from_unix_ms(now)).is_err());
    }
}
