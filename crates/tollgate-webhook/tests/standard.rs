//! Standard Webhooks' signatures: the specification's example, times, and everything that is not one.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use tollgate_core::Timestamp;
use tollgate_webhook::{
    SignatureError, StandardHeaders, StandardSecrets, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx";
/// The example of the specification's reference libraries.
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const SENT: u64 = 1_614_265_330;
const BODY: &[u8] = br#"{"test": 2432232314}"#;
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

fn secrets() -> StandardSecrets {
    StandardSecrets::new([SECRET]).unwrap()
}

const fn at(seconds: u64, ms: u64) -> Timestamp {
    Timestamp::from_unix_ms(seconds * 1_000 + ms)
}

const fn headers<'a>(id: &'a [u8], timestamp: &'a [u8], signature: &'a [u8]) -> StandardHeaders<'a> {
    StandardHeaders { id, timestamp, signature }
}

fn verify(timestamp: &str, signature: &str, now: Timestamp) -> Result<Timestamp, SignatureError> {
    let headers = headers(ID.as_bytes(), timestamp.as_bytes(), signature.as_bytes());
    secrets().verify_signature(headers, BODY, now)
}

#[test]
fn the_specifications_example_verifies() {
    assert_eq!(verify("1614265330", SIGNATURE, at(SENT, 0)), Ok(at(SENT, 0)));
    assert_eq!(secrets().sign(ID, SENT, BODY), SIGNATURE);
}

#[test]
fn one_of_several_signatures_and_secrets_is_enough() {
    let other = StandardSecrets::new([OTHER]).unwrap().sign(ID, SENT, BODY);
    let now = at(SENT, 0);
    for list in [
        format!("{other} {SIGNATURE}"),
        format!("{SIGNATURE} {other}"),
        format!("v1a,AAAA {SIGNATURE}"),
        format!("{SIGNATURE}  v2,x"),
        format!("nonsense {SIGNATURE}"),
        format!("v1,%%% {SIGNATURE}"),
        format!("{SIGNATURE} v1, v1,AAA"),
    ] {
        assert!(verify("1614265330", &list, now).is_ok(), "{list}");
    }
    assert_eq!(verify("1614265330", &other, now), Err(SignatureError::Mismatch));
    let both = StandardSecrets::new([OTHER, SECRET]).unwrap();
    let sent = headers(ID.as_bytes(), b"1614265330", SIGNATURE.as_bytes());
    assert!(both.verify_signature(sent, BODY, now).is_ok());
    let many = vec![other.as_str(); 16].join(" ");
    assert_eq!(verify("1614265330", &many, now), Err(SignatureError::Mismatch));
    let malformed = Err(SignatureError::Malformed { header: WEBHOOK_SIGNATURE });
    let undecodable = vec!["v1,%"; 16].join(" ");
    for list in [format!("{many} {SIGNATURE}"), format!("{undecodable} {SIGNATURE}"), undecodable] {
        assert_eq!(verify("1614265330", &list, now), malformed, "{list}");
    }
}

#[test]
fn a_time_within_the_tolerance_is_taken() {
    let tolerance = 300;
    for (now, want) in [
        (at(SENT + tolerance, 0), Ok(at(SENT, 0))),
        (at(SENT + tolerance, 1), Err(SignatureError::TooOld)),
        (at(SENT - tolerance, 0), Ok(at(SENT, 0))),
        (Timestamp::from_unix_ms((SENT - tolerance) * 1_000 - 1), Err(SignatureError::TooNew)),
        (Timestamp::EPOCH, Err(SignatureError::TooNew)),
        (Timestamp::MAX, Err(SignatureError::TooOld)),
    ] {
        assert_eq!(verify("1614265330", SIGNATURE, now), want, "{now:?}");
    }
    let strict = secrets().tolerance(Duration::ZERO);
    let sent = headers(ID.as_bytes(), b"1614265330", SIGNATURE.as_bytes());
    assert!(strict.verify_signature(sent, BODY, at(SENT, 0)).is_ok());
    assert_eq!(strict.verify_signature(sent, BODY, at(SENT, 1)), Err(SignatureError::TooOld));
    let lax = secrets().tolerance(Duration::MAX);
    assert_eq!(lax.verify_signature(sent, BODY, at(SENT + 86_401, 0)), Err(SignatureError::TooOld));
}

#[test]
fn a_hostile_time_is_refused_and_nothing_overflows() {
    let malformed = Err(SignatureError::Malformed { header: WEBHOOK_TIMESTAMP });
    for timestamp in [
        "",
        " ",
        "-1",
        "+1614265330",
        "1614265330.0",
        "1.6e9",
        "0x60",
        " 1614265330",
        "1614265330 ",
        "1,614",
        "-9223372036854775808",
        "9223372036854775807",
        "18446744073709551615",
        "99999999999999999999999999999999",
        "1000000000000000",
        "NaN",
        "١٦١٤٢٦٥٣٣٠",
    ] {
        for now in [Timestamp::EPOCH, at(SENT, 0), Timestamp::MAX] {
            assert_eq!(verify(timestamp, SIGNATURE, now), malformed, "{timestamp:?}");
        }
    }
    // The longest that are read, signed and not.
    for seconds in [0, 1, 999_999_999_999_999] {
        let signature = secrets().sign(ID, seconds, BODY);
        for now in [Timestamp::EPOCH, at(SENT, 0), Timestamp::MAX] {
            let answer = verify(&seconds.to_string(), &signature, now);
            let is_near =
                answer.is_ok_and(|sent| sent.since(now).max(now.since(sent)) <= StandardSecrets::TOLERANCE);
            assert!(
                is_near || matches!(answer, Err(SignatureError::TooOld | SignatureError::TooNew)),
                "{seconds}"
            );
            let forged = verify(&seconds.to_string(), SIGNATURE, now);
            assert_eq!(forged, Err(SignatureError::Mismatch), "only who signs learns of its clock");
        }
    }
}

#[test]
fn each_flipped_bit_of_id_time_body_and_signature_fails() {
    let secrets = StandardSecrets::new([OTHER, SECRET]).unwrap();
    let whole = [ID.as_bytes(), b"1614265330", BODY, SIGNATURE.as_bytes()];
    let now = at(SENT, 0);
    for place in 0..whole.len() {
        for bit in 0..8 * whole[place].len() {
            let mut parts = whole.map(<[u8]>::to_vec);
            parts[place][bit / 8] ^= 1 << (bit % 8);
            let [id, timestamp, body, signature] = &parts;
            let answer = secrets.verify_signature(headers(id, timestamp, signature), body, now);
            assert!(answer.is_err(), "bit {bit} of part {place}");
        }
    }
}

#[test]
fn a_text_that_is_split_elsewhere_has_another_time() {
    // `id.timestamp.body` is one text: what is signed as one split must not pass as another.
    let signature = secrets().sign("a", 1_614_265_330, b"1.b");
    let moved = headers(b"a.1614265330", b"1", signature.as_bytes());
    let answer = secrets().verify_signature(moved, b"b", at(SENT, 0));
    // The texts are the same, so it is genuine as a text; the id and the time that it names are what a stranger chose.
    assert_ne!(answer, Ok(at(SENT, 0)));
    assert_eq!(answer, Err(SignatureError::TooOld));
}

#[test]
fn each_header_comes_exactly_once() {
    let now = at(SENT, 0);
    let names = [(WEBHOOK_ID, ID), (WEBHOOK_TIMESTAMP, "1614265330"), (WEBHOOK_SIGNATURE, SIGNATURE)];
    let whole: HeaderMap =
        names.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect();
    assert!(secrets().verify(&whole, BODY, now).is_ok());
    for (header, value) in names {
        let mut headers = whole.clone();
        headers.append(header, HeaderValue::from_static(value));
        assert_eq!(secrets().verify(&headers, BODY, now), Err(SignatureError::Repeated { header }));
        headers.remove(header);
        assert_eq!(secrets().verify(&headers, BODY, now), Err(SignatureError::Missing { header }));
        headers.insert(header, HeaderValue::from_static(""));
        assert_eq!(secrets().verify(&headers, BODY, now), Err(SignatureError::Malformed { header }));
    }
}

proptest! {
    #[test]
    fn nothing_that_is_sent_panics_or_verifies(
        id in proptest::collection::vec(any::<u8>(), 0..40),
        timestamp in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..30),
            any::<i64>().prop_map(|seconds| seconds.to_string().into_bytes()),
            any::<u64>().prop_map(|seconds| seconds.to_string().into_bytes()),
        ],
        signature in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..100),
            "(v1,[A-Za-z0-9+/=]{0,50} ?){0,20}".prop_map(String::into_bytes),
        ],
        body in proptest::collection::vec(any::<u8>(), 0..40),
        now in any::<u64>(),
    ) {
        let now = Timestamp::from_unix_ms(now);
        prop_assert!(secrets().verify_signature(headers(&id, &timestamp, &signature), &body, now).is_err());
    }

    #[test]
    fn what_is_signed_verifies(
        id in "[A-Za-z0-9._:-]{1,128}",
        seconds in 0_u64..10_000_000_000,
        body in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let signature = secrets().sign(&id, seconds, &body);
        let timestamp = seconds.to_string();
        let headers = headers(id.as_bytes(), timestamp.as_bytes(), signature.as_bytes());
        prop_assert_eq!(secrets().verify_signature(headers, &body, at(seconds, 0)), Ok(at(seconds, 0)));
    }
}
