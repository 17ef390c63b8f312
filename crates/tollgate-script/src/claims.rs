//! Claims on their way to the script, and whose a key is on the way back.

use tollgate_core::Timestamp;
use tollgate_store::{
    Claim, ClaimKey, ClaimToken, Claimed, Confirm, Hold, Release, StoreError, StoreErrorKind,
};

use crate::{Call, Prefix, Reply, Script, Words, number::SLACK_MS, reply::garbage};

/// The call that claims a key: it may be sent again at any time.
///
/// # Errors
/// [`StoreErrorKind::Misuse`] if a literal key is empty.
pub fn claim_call(prefix: &Prefix, claim: &Claim<'_>) -> Result<Call, StoreError> {
    asking(Script::Claim, prefix, claim)
}

/// The call that gives a claim a lease from now on: it may be sent again at any time.
///
/// # Errors
/// As [`claim_call`].
pub fn renew_call(prefix: &Prefix, claim: &Claim<'_>) -> Result<Call, StoreError> {
    asking(Script::Renew, prefix, claim)
}

/// The call that has a claim remembered as done: it may be sent again at any time.
///
/// # Errors
/// As [`claim_call`].
pub fn confirm_call(prefix: &Prefix, confirm: &Confirm<'_>) -> Result<Call, StoreError> {
    let Confirm { key, token, .. } = *confirm;
    timed(Script::Confirm, prefix, key, token, confirm.started_at(), confirm.until())
}

/// The call that frees a claim: it may be sent again at any time.
///
/// # Errors
/// As [`claim_call`].
pub fn release_call(prefix: &Prefix, release: &Release<'_>) -> Result<Call, StoreError> {
    let keys = keys(prefix, &release.key)?;
    let mut args = Words::default();
    push_token(&mut args, release.token);
    push_kind(&mut args, &release.key);
    Ok(Call { script: Script::Release, keys, args })
}

fn asking(script: Script, prefix: &Prefix, claim: &Claim<'_>) -> Result<Call, StoreError> {
    timed(script, prefix, claim.key, claim.token, claim.started_at(), claim.until())
}

fn timed(
    script: Script,
    prefix: &Prefix,
    key: ClaimKey<'_>,
    token: ClaimToken,
    now: Timestamp,
    until: Timestamp,
) -> Result<Call, StoreError> {
    let keys = keys(prefix, &key)?;
    let mut args = Words::default();
    push_token(&mut args, token);
    args.push_number(now.unix_ms());
    args.push_number(until.unix_ms());
    args.push_number(until.unix_ms() - now.unix_ms() + SLACK_MS);
    push_kind(&mut args, &key);
    Ok(Call { script, keys, args })
}

fn keys(prefix: &Prefix, key: &ClaimKey<'_>) -> Result<Words, StoreError> {
    let mut keys = Words::default();
    match key {
        ClaimKey::Key(key) => prefix.own("claim", format_args!("{key}"), &mut keys),
        ClaimKey::Literal("") => return Err(StoreError::misuse("a literal key is empty: give it a name")),
        ClaimKey::Literal(text) => keys.push(text),
    }
    Ok(keys)
}

fn push_token(args: &mut Words, token: ClaimToken) {
    args.push_formatted(format_args!("{:032x}", token.bits()));
}

fn push_kind(args: &mut Words, key: &ClaimKey<'_>) {
    args.push(match key {
        ClaimKey::Key(_) => "k",
        ClaimKey::Literal(_) => "l",
    });
}

/// Reads a server's answer to the call of a claim.
///
/// # Errors
/// [`StoreErrorKind::Garbage`] if it is not one of the script's; [`StoreErrorKind::Disagree`] if it says that a claim was made
/// which would have ended before it began.
pub fn claim_answer(claim: &Claim<'_>, reply: &Reply) -> Result<Claimed, StoreError> {
    let Reply::Text(text) = reply else { return Err(odd()) };
    let (word, until) = match text.split_once(' ') {
        None if text == "done" => return Ok(Claimed::Done),
        Some((word @ ("ours" | "running"), until)) => (word, until),
        _ => return Err(odd()),
    };
    let until = until.parse().map(Timestamp::from_unix_ms).map_err(|_| odd())?;
    if until <= claim.started_at() {
        return Err(StoreError::new(
            StoreErrorKind::Disagree,
            "the script names a holder whose lease has ended: what answers here is not the script that was called",
        ));
    }
    Ok(if word == "ours" { Claimed::Ours { until } } else { Claimed::Running { until } })
}

/// Reads a server's answer to the call of a renewal or of a confirmation.
///
/// # Errors
/// [`StoreErrorKind::Garbage`] if it is not one of the script's.
pub fn hold_answer(reply: &Reply) -> Result<Hold, StoreError> {
    match reply {
        Reply::Int(1) => Ok(Hold::Ours),
        Reply::Int(0) => Ok(Hold::Lost),
        _ => Err(odd()),
    }
}

/// Reads a server's answer to the call of a release.
///
/// # Errors
/// As [`hold_answer`].
pub fn release_answer(reply: &Reply) -> Result<(), StoreError> {
    match reply {
        Reply::Int(0 | 1) => Ok(()),
        _ => Err(odd()),
    }
}

#[cold]
fn odd() -> StoreError {
    garbage("the answer to a claim is none of its words or numbers")
}

#[cfg(test)]
mod tests {
    use tollgate_core::Window;

    use super::*;

    const CLAIM: Claim<'static> = Claim {
        key: ClaimKey::Literal("github-delivery:1"),
        token: ClaimToken::new(7),
        lease: Window::MINUTE,
        now: Timestamp::from_unix_ms(1_000),
    };

    #[test]
    fn a_literal_key_is_sent_as_it_is() {
        let call = claim_call(&Prefix::default(), &CLAIM).unwrap();
        assert_eq!((call.keys.len(), &call.keys[0]), (1, "github-delivery:1"));
        let token = "00000000000000000000000000000007";
        assert_eq!(call.args.iter().collect::<Vec<_>>(), [token, "1000", "61000", "61000", "l"]);
        let empty = Claim { key: ClaimKey::Literal(""), ..CLAIM };
        assert_eq!(claim_call(&Prefix::default(), &empty).unwrap_err().kind(), StoreErrorKind::Misuse);
    }

    #[test]
    fn an_answer_is_one_of_the_scripts() {
        let until = Timestamp::from_unix_ms(61_000);
        let text = |text: &str| Reply::Text(text.into());
        let read = |reply: Reply| claim_answer(&CLAIM, &reply);
        assert_eq!(read(text("ours 61000")).unwrap(), Claimed::Ours { until });
        assert_eq!(read(text("running 61000")).unwrap(), Claimed::Running { until });
        assert_eq!(read(text("done")).unwrap(), Claimed::Done);
        assert_eq!(read(text("ours 1000")).unwrap_err().kind(), StoreErrorKind::Disagree);
        for reply in ["", "ours", "done 1", "ours x", "theirs 61000", "ours -1"].map(text) {
            assert_eq!(read(reply).unwrap_err().kind(), StoreErrorKind::Garbage);
        }
        for reply in [Reply::Nil, Reply::Int(1), Reply::Array(Vec::new())] {
            assert_eq!(read(reply).unwrap_err().kind(), StoreErrorKind::Garbage);
        }
        assert_eq!(hold_answer(&Reply::Int(1)).unwrap(), Hold::Ours);
        assert_eq!(hold_answer(&Reply::Int(0)).unwrap(), Hold::Lost);
        for reply in [Reply::Nil, Reply::Int(2), text("1")] {
            assert_eq!(hold_answer(&reply).unwrap_err().kind(), StoreErrorKind::Garbage);
            assert_eq!(release_answer(&reply).unwrap_err().kind(), StoreErrorKind::Garbage);
        }
    }
}
