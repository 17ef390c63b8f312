//! Random histories of claims, answered by a store and by the reference.

use std::fmt::Debug;

use fastrand::Rng;
use tollgate_core::{Timestamp, Window};
use tollgate_store::{Claim, ClaimKey, ClaimToken, Claims, Confirm, Key, Part, Release, StoreError};

use super::ReferenceClaims;
use crate::{
    Failure, Setting,
    ground::NAME,
    setting::{after, before},
};

const CASE: &str = "random_histories_are_answered_as_the_reference_does";

/// How many steps each history of [`certify_claims!`](crate::certify_claims) has.
pub const CLAIM_STEPS: u32 = 600;

/// Few enough that they meet all the time.
const KEYS: u64 = 5;
const TOKENS: u64 = 4;
/// Far longer than a history takes, since a server counts lifetimes by a clock of its own.
const HOURS: std::ops::RangeInclusive<u64> = 1..=30;

/// Lets a random history of claims happen to a store and to [`ReferenceClaims`], and demands the same answers.
///
/// The history follows from `seed`: claims, renewals, confirmations and releases by holders and by others, sent once and again; at
/// any time, and at the instants where a lease or a retention ends, one millisecond beside them; a clock that steps back, where
/// nothing has ended meanwhile that a store may have dropped.
///
/// # Errors
/// At the first step that is answered otherwise. The failure names the seed, the step and what differed.
pub async fn claims_differential(
    claims: &dyn Claims,
    setting: &Setting,
    seed: u64,
    steps: u32,
) -> Result<(), Failure> {
    let mut rng = Rng::with_seed(seed);
    let model = ReferenceClaims::new();
    let mut newest = setting.epoch;
    for number in 0..steps {
        let place = rng.u64(..KEYS);
        let parts = [Part::Number(setting.run), Part::Text(CASE), Part::Number(seed), Part::Number(place)];
        let literal = format!("suite-claim:{}:{seed}:{place}", setting.run);
        let key =
            if place == 0 { ClaimKey::Literal(&literal) } else { ClaimKey::Key(Key::new(NAME, &parts)) };
        let token = setting.id(("claims", seed, rng.u64(..TOKENS))).bits();
        let now = time(&mut rng, &model, &key, newest);
        newest = newest.max(now);
        let span = Window::from_ms(rng.u64(HOURS) * 3_600_000 + rng.u64(..3));
        let action = Action::any(&mut rng, Claim { key, token: ClaimToken::new(token), lease: span, now });
        let times = if rng.u8(..4) == 0 { 2 } else { 1 };
        for _ in 0..times {
            let (got, want) = (action.happen(claims).await, action.happen(&model).await);
            if got != want {
                let detail = format!(
                    "seed {seed}, step {number}: the store says {got}, it owes {want}\n    in {action:?}"
                );
                return Err(Failure::new(CASE, detail));
            }
        }
    }
    Ok(())
}

/// A time that is owed an answer: a store may have dropped at the newest time what had ended by then.
fn time(rng: &mut Rng, model: &ReferenceClaims, key: &ClaimKey<'_>, newest: Timestamp) -> Timestamp {
    let until = model.find(&key.to_bytes()).map(|kept| kept.until);
    match (rng.u8(..32), until) {
        (0, Some(until)) if until > newest => before(until, 1),
        (1, Some(until)) if until > newest => until,
        (2, Some(until)) if until > newest => after(until, 1),
        (3..8, _) if until.is_none_or(|until| until > newest) => before(newest, rng.u64(..10_000)),
        (8, _) => after(newest, rng.u64(..10 * 3_600_000)),
        (9..20, _) => after(newest, rng.u64(..60_000)),
        _ => newest,
    }
}

#[derive(Debug)]
enum Action<'a> {
    Claim(Claim<'a>),
    Renew(Claim<'a>),
    Confirm(Confirm<'a>),
    Release(Release<'a>),
}

impl<'a> Action<'a> {
    fn any(rng: &mut Rng, claim: Claim<'a>) -> Self {
        let Claim { key, token, lease: retention, now } = claim;
        match rng.u8(..10) {
            0..5 => Self::Claim(claim),
            5 => Self::Renew(claim),
            6 | 7 => Self::Confirm(Confirm { key, token, retention, now }),
            _ => Self::Release(Release { key, token }),
        }
    }

    async fn happen(&self, claims: &dyn Claims) -> String {
        match *self {
            Self::Claim(claim) => said(claims.claim(claim).await),
            Self::Renew(claim) => said(claims.renew(claim).await),
            Self::Confirm(confirm) => said(claims.confirm(confirm).await),
            Self::Release(release) => said(claims.release(release).await),
        }
    }
}

fn said<T: Debug>(answer: Result<T, StoreError>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("the error {error}"),
    }
}
