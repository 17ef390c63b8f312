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
        let (verified, signature) = match text(&asked, "scheme") {
            "github" => github(&asked)?,
            "standard" => standard(&asked)?,
            _ => return Err("the scheme is `github` or `standard`".into()),
        };
        println!("{}", json!({ "verified": verified, "signature": signature }));
    }
    Ok(())
}

fn github(asked: &Value) -> Result<(bool, String), Box<dyn Error>> {
    let (secrets, body) = (GithubSecrets::new(secrets(asked))?, text(asked, "body"));
    let verified = secrets.verify_signature(text(asked, "signature").as_bytes(), body.as_bytes());
    Ok((verified.is_ok(), secrets.sign(body.as_bytes())))
}

fn standard(asked: &Value) -> Result<(bool, String), Box<dyn Error>> {
    let (secrets, body) = (StandardSecrets::new(secrets(asked))?, text(asked, "body"));
    let (id, timestamp) = (text(asked, "id"), text(asked, "timestamp"));
    let headers = StandardHeaders {
        id: id.as_bytes(),
        timestamp: timestamp.as_bytes(),
        signature: text(asked, "signature").as_bytes(),
    };
    let now = Timestamp::from_unix_ms(asked["now"].as_u64().unwrap_or_default());
    let verified = secrets.verify_signature(headers, body.as_bytes(), now);
    Ok((verified.is_ok(), secrets.sign(id, timestamp.parse()?, body.as_bytes())))
}

fn text<'a>(asked: &'a Value, name: &str) -> &'a str {
    asked[name].as_str().unwrap_or_default()
}

fn secrets(asked: &Value) -> Vec<&str> {
    asked["secrets"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
