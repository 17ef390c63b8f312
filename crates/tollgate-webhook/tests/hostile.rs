//! Times that a sender with the secret chose to do harm, each with a genuine signature over it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tollgate_core::Timestamp;
use tollgate_webhook::{SignatureError, StandardHeaders, StandardSecrets, StripeSecrets};

/// Of Stripe as it is; of Standard Webhooks the base64 after `whsec_` is what signs.
const STRIPE: &str = "whsec_test_secret_of_some_length";
const STANDARD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID: &str = "msg_1";
const BODY: &[u8] = br#"{"id":"evt_1"}"#;
const NOW: Timestamp = Timestamp::from_unix_ms(1_796_040_000_000);

/// The extremes of every integer that a time may be kept in, in seconds, in milliseconds and in nanoseconds, and what is no number.
fn times() -> Vec<String> {
    let mut times: Vec<String> = Vec::new();
    for extreme in [i128::from(i64::MIN), i128::from(i64::MAX), i128::from(u64::MAX), i128::from(i32::MIN)]
        .into_iter()
        .chain([i128::from(i32::MAX), i128::from(u32::MAX), 1 << 53, i128::MIN, i128::MAX, 0])
    {
        for divisor in [1, 1_000, 1_000_000_000] {
            let near = (-2..=2).map(|by: i128| (extreme / divisor).saturating_add(by).to_string());
            times.extend(near);
        }
    }
    times.push(u128::MAX.to_string());
    times.push("9".repeat(400));
    let texts = ["", " ", "-", "+1", "1e99", "1.5", "inf", "NaN", "0x10", "١٦", "1 ", "-0", "\u{7f}"];
    times.extend(texts.map(str::to_owned));
    times
}

fn signed(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

fn stripe(time: &str) -> String {
    let signature = signed(STRIPE.as_bytes(), &[time.as_bytes(), b".", BODY]);
    let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={time},v1={hex}")
}

fn standard(time: &str) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
    let key = BASE64.decode(&STANDARD["whsec_".len()..]).unwrap();
    let signature = signed(&key, &[ID.as_bytes(), b".", time.as_bytes(), b".", BODY]);
    format!("v1,{}", BASE64.encode(signature))
}

/// Every clock, the extremes too.
const CLOCKS: [Timestamp; 3] = [Timestamp::EPOCH, NOW, Timestamp::MAX];

#[test]
fn what_is_signed_here_is_genuine() {
    let secrets = StripeSecrets::new([STRIPE]).unwrap();
    assert_eq!(secrets.verify_signature(stripe("1796040000").as_bytes(), BODY, NOW), Ok(NOW));
    let secrets = StandardSecrets::new([STANDARD]).unwrap();
    let signature = standard("1796040000");
    let headers =
        StandardHeaders { id: ID.as_bytes(), timestamp: b"1796040000", signature: signature.as_bytes() };
    assert_eq!(secrets.verify_signature(headers, BODY, NOW), Ok(NOW));
}

#[test]
fn a_hostile_time_of_stripe_is_refused_though_it_is_signed() {
    let secrets = StripeSecrets::new([STRIPE]).unwrap();
    for time in times() {
        let value = stripe(&time);
        for now in CLOCKS {
            refused(&time, now, secrets.verify_signature(value.as_bytes(), BODY, now));
        }
    }
}

#[test]
fn a_hostile_time_of_standard_webhooks_is_refused_though_it_is_signed() {
    let secrets = StandardSecrets::new([STANDARD]).unwrap();
    for time in times() {
        let signature = standard(&time);
        let headers = StandardHeaders {
            id: ID.as_bytes(),
            timestamp: time.as_bytes(),
            signature: signature.as_bytes(),
        };
        for now in CLOCKS {
            refused(&time, now, secrets.verify_signature(headers, BODY, now));
        }
    }
}

/// Only a time that is near is taken: by a clock at the epoch, the first minutes are.
fn refused(time: &str, now: Timestamp, answer: Result<Timestamp, SignatureError>) {
    match answer {
        Ok(signed_at) => {
            let seconds: u64 = time.parse().unwrap_or_else(|_| panic!("{time:?} is no time"));
            assert_eq!(signed_at, Timestamp::from_unix_ms(seconds.saturating_mul(1_000)), "{time:?}");
            let apart = now.since(signed_at).max(signed_at.since(now));
            assert!(apart <= StandardSecrets::TOLERANCE, "{time:?} is not near {now:?}");
        }
        Err(SignatureError::Malformed { .. } | SignatureError::TooOld | SignatureError::TooNew) => {}
        Err(error) => panic!("{time:?}: {error}"),
    }
}
