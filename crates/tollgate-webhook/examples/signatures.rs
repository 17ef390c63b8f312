//! Verifies and signs what it is told in lines of JSON: each line in gets one line out.
//!
//! `cargo xtask interop` runs it beside the official packages of the senders.

#![expect(clippy::print_stdout, reason = "this is what the program is for")]

use std::{error::Error, io};

use serde_json::{Value, json};
use tollgate_core::Timestamp;
use tollgate_webhook::{GithubSecrets, StandardHeaders, StandardSecrets};

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        println!("{}", answer(&asked)?);
    }
    Ok(())
}

/// Whether what was asked about verifies, what is signed here for it, and if that is asked how many of its bits may be flipped.
fn answer(asked: &Value) -> Result<Value, Box<dyn Error>> {
    let (parts, verifies, signature) = match text(asked, "scheme") {
        "github" => github(asked)?,
        "standard" => standard(asked)?,
        _ => return Err("the scheme is `github` or `standard`".into()),
    };
    let parts: Vec<Vec<u8>> = parts.iter().map(|name| text(asked, name).into()).collect();
    let mut answer = json!({ "verified": verifies(&parts), "signature": signature });
    if asked["flips"] == true {
        answer["flips"] = flips(parts, &*verifies).into();
    }
    Ok(answer)
}

/// The names of what a request has that is signed, whether such parts verify, and what is signed here.
type Scheme = (&'static [&'static str], Box<dyn Fn(&[Vec<u8>]) -> bool>, String);

fn github(asked: &Value) -> Result<Scheme, Box<dyn Error>> {
    let secrets = GithubSecrets::new(secrets(asked))?;
    let signature = secrets.sign(text(asked, "body").as_bytes());
    let verifies = move |parts: &[Vec<u8>]| match parts {
        [body, signature] => secrets.verify_signature(signature, body).is_ok(),
        _ => false,
    };
    Ok((&["body", "signature"], Box::new(verifies), signature))
}

fn standard(asked: &Value) -> Result<Scheme, Box<dyn Error>> {
    let secrets = StandardSecrets::new(secrets(asked))?;
    let seconds = text(asked, "timestamp").parse()?;
    let signature = secrets.sign(text(asked, "id"), seconds, text(asked, "body").as_bytes());
    let now = Timestamp::from_unix_ms(asked["now"].as_u64().unwrap_or_default());
    let verifies = move |parts: &[Vec<u8>]| match parts {
        [body, signature, id, timestamp] => {
            secrets.verify_signature(StandardHeaders { id, timestamp, signature }, body, now).is_ok()
        }
        _ => false,
    };
    Ok((&["body", "signature", "id", "timestamp"], Box::new(verifies), signature))
}

/// Flips each bit of each part in turn, and counts those that verify all the same.
fn flips(mut parts: Vec<Vec<u8>>, verifies: &dyn Fn(&[Vec<u8>]) -> bool) -> Vec<usize> {
    let mut passed = vec![0; parts.len()];
    for part in 0..parts.len() {
        for bit in 0..8 * parts[part].len() {
            parts[part][bit / 8] ^= 1 << (bit % 8);
            passed[part] += usize::from(verifies(&parts));
            parts[part][bit / 8] ^= 1 << (bit % 8);
        }
    }
    passed
}

fn text<'a>(asked: &'a Value, name: &str) -> &'a str {
    asked[name].as_str().unwrap_or_default()
}

fn secrets(asked: &Value) -> Vec<&str> {
    asked["secrets"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
