//! A store of claims with one fault, to show that each case about claims can fail, and the random histories too.

mod shown;

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use shown::{Shown, faults, yield_once};
use tollgate_core::{Timestamp, Window};
use tollgate_store::{
    Claim, ClaimKey, ClaimToken, Claimed, Claims, Confirm, Hold, Release, StoreError, StoreErrorKind,
};
use tollgate_suite::{CLAIM_STEPS, ClaimCase, Setting, claim_cases, claims_differential, run_all_claims};

faults! {
    TwoHoldOne OwnClaimIsRefused ClaimAgainRenews LeaseEndsAnInstantLate LeaseNeverEnds LeaseIsCutTo32Bits
    DoneIsForgotten RetentionIsTheLease DoneIsForEver DoneIsClaimedByItsOwner
    ReleaseDoesNothing ReleaseIsByAnyone ReleaseForgetsDone ReleaseOfUnknownFails
    ConfirmIsByAnyone ConfirmAgainIsLost ConfirmAgainExtends LateConfirmCounts LateConfirmCreates TokenIsCutTo64Bits
    RenewDoesNothing RenewIsByAnyone RenewRevivesWhatEnded RenewRevivesWhatIsDone RenewCreates
    KeysAreJoinedPlainly LiteralsAreKeys LiteralsAreOne NamesAreDropped ReadsThenWrites
}

/// Every case, with the faults that it finds.
const FOUND_BY: &[(&str, &[Fault])] = &[
    ("a_claim_is_held_by_one", &[Fault::TwoHoldOne]),
    ("a_claim_sent_again_is_still_ours", &[Fault::OwnClaimIsRefused, Fault::ClaimAgainRenews]),
    ("a_confirmation_sent_again_changes_nothing", &[Fault::ConfirmAgainIsLost, Fault::ConfirmAgainExtends]),
    (
        "a_late_confirmation_says_so",
        &[Fault::LateConfirmCounts, Fault::LateConfirmCreates, Fault::ReleaseIsByAnyone],
    ),
    ("a_lease_ends", &[Fault::LeaseEndsAnInstantLate, Fault::LeaseNeverEnds]),
    (
        "a_lease_is_renewed_by_its_holder",
        &[
            Fault::RenewDoesNothing,
            Fault::RenewIsByAnyone,
            Fault::RenewRevivesWhatIsDone,
            Fault::RenewCreates,
        ],
    ),
    ("a_lease_that_ended_is_not_renewed", &[Fault::RenewRevivesWhatEnded]),
    ("a_literal_key_is_claimed_as_any_other", &[Fault::LiteralsAreOne]),
    ("a_race_is_won_by_one", &[Fault::ReadsThenWrites]),
    (
        "no_two_keys_share_a_claim",
        &[Fault::KeysAreJoinedPlainly, Fault::LiteralsAreKeys, Fault::NamesAreDropped],
    ),
    ("only_the_holder_confirms", &[Fault::ConfirmIsByAnyone, Fault::TokenIsCutTo64Bits]),
    ("only_the_holder_releases", &[Fault::ReleaseIsByAnyone]),
    ("the_longest_times_overflow_nothing", &[Fault::LeaseIsCutTo32Bits]),
    (
        "what_is_done_is_not_claimed",
        &[
            Fault::DoneIsForgotten,
            Fault::RetentionIsTheLease,
            Fault::DoneIsForEver,
            Fault::DoneIsClaimedByItsOwner,
        ],
    ),
    ("what_is_done_is_not_released", &[Fault::ReleaseForgetsDone]),
    ("what_is_released_is_free", &[Fault::ReleaseDoesNothing, Fault::ReleaseOfUnknownFails]),
];

/// What random histories do not meet, so that only a case finds it.
const NOT_MET_BY_HISTORIES: &[Fault] = &[
    Fault::LeaseIsCutTo32Bits,
    Fault::TokenIsCutTo64Bits,
    Fault::KeysAreJoinedPlainly,
    Fault::LiteralsAreKeys,
    Fault::LiteralsAreOne,
    Fault::NamesAreDropped,
    Fault::ReadsThenWrites,
];

#[derive(Clone, Copy, Debug)]
struct Kept {
    token: ClaimToken,
    until: Timestamp,
    is_done: bool,
}

#[derive(Debug)]
struct Broken {
    fault: Option<Fault>,
    kept: Mutex<BTreeMap<Vec<u8>, Kept>>,
}

impl Broken {
    fn new(fault: Option<Fault>) -> Self {
        Self { fault, kept: Mutex::default() }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, key: &ClaimKey<'_>) -> Vec<u8> {
        match key {
            ClaimKey::Key(key) if self.is(Fault::KeysAreJoinedPlainly) => {
                let part = |part: &tollgate_store::Part<'_>| match part {
                    tollgate_store::Part::Text(text) => String::from(*text),
                    tollgate_store::Part::Number(number) => number.to_string(),
                };
                let parts: Vec<_> = key.parts().iter().map(part).collect();
                format!("{}:{}", key.name(), parts.join(":")).into()
            }
            ClaimKey::Key(key) if self.is(Fault::NamesAreDropped) => {
                tollgate_store::Key::new(tollgate_store::Name::new("any"), key.parts()).to_bytes().into()
            }
            ClaimKey::Key(key) if self.is(Fault::LiteralsAreKeys) => key.to_string().into(),
            ClaimKey::Literal(text) if self.is(Fault::LiteralsAreKeys) => (*text).into(),
            ClaimKey::Literal(_) if self.is(Fault::LiteralsAreOne) => b"literal".into(),
            key => key.to_bytes().into(),
        }
    }

    /// What is kept, unless it has ended.
    fn find(&self, key: &[u8], now: Timestamp) -> Option<Kept> {
        let kept = self.kept().get(key).copied()?;
        let ends_late = self.is(Fault::LeaseEndsAnInstantLate) && kept.until == now;
        let for_ever = if kept.is_done { Fault::DoneIsForEver } else { Fault::LeaseNeverEnds };
        (kept.until > now || ends_late || self.is(for_ever)).then_some(kept)
    }

    fn is_holder(&self, kept: &Kept, token: ClaimToken, by_anyone: Fault) -> bool {
        let cut = |token: ClaimToken| token.bits() << 64;
        kept.token == token
            || self.is(by_anyone)
            || self.is(Fault::TokenIsCutTo64Bits) && cut(kept.token) == cut(token)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for Broken {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        let (key, mut until) = (self.name(&claim.key), claim.until());
        if self.is(Fault::LeaseIsCutTo32Bits) {
            until = claim.now.saturating_add_ms(claim.lease.ms() & 0xFFFF_FFFF);
        }
        let found = self.find(&key, claim.started_at());
        if self.is(Fault::ReadsThenWrites) {
            yield_once().await;
        }
        match found {
            Some(kept)
                if kept.is_done
                    && !(self.is(Fault::DoneIsClaimedByItsOwner) && kept.token == claim.token) =>
            {
                return Ok(Claimed::Done);
            }
            Some(kept) if kept.is_done => {}
            Some(kept) if kept.token == claim.token => {
                if self.is(Fault::OwnClaimIsRefused) {
                    return Ok(Claimed::Running { until: kept.until });
                }
                if !self.is(Fault::ClaimAgainRenews) {
                    return Ok(Claimed::Ours { until: kept.until });
                }
            }
            Some(kept) if !self.is(Fault::TwoHoldOne) => return Ok(Claimed::Running { until: kept.until }),
            _ => {}
        }
        self.kept().insert(key, Kept { token: claim.token, until, is_done: false });
        Ok(Claimed::Ours { until })
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        let key = self.name(&claim.key);
        let found = if self.is(Fault::RenewRevivesWhatEnded) {
            self.kept().get(&key).copied()
        } else {
            self.find(&key, claim.started_at())
        };
        let to = Kept { token: claim.token, until: claim.until(), is_done: false };
        let is_ours = match found {
            Some(kept) if kept.is_done => self.is(Fault::RenewRevivesWhatIsDone) && kept.token == claim.token,
            Some(kept) => self.is_holder(&kept, claim.token, Fault::RenewIsByAnyone),
            None => self.is(Fault::RenewCreates),
        };
        if is_ours && !self.is(Fault::RenewDoesNothing) {
            self.kept().insert(key, to);
        }
        Ok(if is_ours { Hold::Ours } else { Hold::Lost })
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        let key = self.name(&confirm.key);
        let found = if self.is(Fault::LateConfirmCounts) {
            self.kept().get(&key).copied()
        } else {
            self.find(&key, confirm.started_at())
        };
        let mut to = Kept { token: confirm.token, until: confirm.until(), is_done: true };
        let Some(kept) = found else {
            if self.is(Fault::LateConfirmCreates) {
                self.kept().insert(key, to);
            }
            return Ok(Hold::Lost);
        };
        if !self.is_holder(&kept, confirm.token, Fault::ConfirmIsByAnyone) {
            return Ok(Hold::Lost);
        }
        if kept.is_done && self.is(Fault::ConfirmAgainIsLost) {
            return Ok(Hold::Lost);
        }
        if self.is(Fault::RetentionIsTheLease) {
            to.until = kept.until;
        }
        if self.is(Fault::DoneIsForgotten) {
            self.kept().remove(&key);
        } else if !kept.is_done || self.is(Fault::ConfirmAgainExtends) {
            self.kept().insert(key, to);
        }
        Ok(Hold::Ours)
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        let key = self.name(&release.key);
        let Some(kept) = self.kept().get(&key).copied() else {
            return if self.is(Fault::ReleaseOfUnknownFails) {
                Err(StoreError::new(StoreErrorKind::Reject, "there is no such claim"))
            } else {
                Ok(())
            };
        };
        let may = !kept.is_done || self.is(Fault::ReleaseForgetsDone);
        if may
            && self.is_holder(&kept, release.token, Fault::ReleaseIsByAnyone)
            && !self.is(Fault::ReleaseDoesNothing)
        {
            self.kept().remove(&key);
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_store_without_a_fault_passes() {
    run_all_claims(async || Broken::new(None), &Setting::default()).await.unwrap();
    assert!(Window::MAX > Window::WEEK, "the longest lease is beyond 32 bits");
}

const SHOWN: Shown<Fault> =
    Shown { all: Fault::ALL, found_by: FOUND_BY, not_met_by_histories: NOT_MET_BY_HISTORIES };

#[tokio::test]
async fn each_case_fails_on_a_store_that_is_broken_for_it() {
    let names = claim_cases().iter().map(ClaimCase::name);
    let finds = async |at: usize, fault| {
        claim_cases()[at].run(&Broken::new(Some(fault)), &Setting::default()).await.is_err()
    };
    SHOWN.each_case_fails(names, finds).await;
}

#[test]
fn every_fault_is_found_by_a_case() {
    SHOWN.every_fault_is_found_by_a_case();
}

#[tokio::test]
async fn random_histories_find_the_faults_too() {
    let finds = async |fault, seed| {
        let claims = Broken::new(Some(fault));
        claims_differential(&claims, &Setting::default(), seed, CLAIM_STEPS).await.is_err()
    };
    SHOWN.random_histories_find_the_others(finds).await;
}

mod owes {
    use tollgate_suite::ReferenceClaims;

    tollgate_suite::certify_claims! { #[tokio::test] ReferenceClaims::new() }
}
