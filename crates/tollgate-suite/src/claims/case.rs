//! The list of cases about claims, and the ways to run them.

use std::{fmt, pin::Pin};

use tollgate_store::Claims;

use super::{cases, claims_differential, differential::CLAIM_STEPS, ground::Ground};
use crate::{Failure, SEEDS, Setting};

type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + 'a>>;

/// One thing that every store of claims owes.
#[derive(Clone, Copy)]
pub struct ClaimCase {
    name: &'static str,
    run: for<'a> fn(&'a Ground<'a>) -> Running<'a>,
}

impl ClaimCase {
    /// Its name: a sentence.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Runs it on a store that has not seen it before.
    ///
    /// # Errors
    /// If the store does not do what it owes.
    pub async fn run(&self, claims: &dyn Claims, setting: &Setting) -> Result<(), Failure> {
        (self.run)(&Ground { claims, setting, case: self.name }).await
    }
}

impl fmt::Debug for ClaimCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "claims::{}", self.name)
    }
}

/// Calls another macro with what it was given and the names of all cases: the one list of them.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_claim_cases {
    ($then:ident $with:tt) => {
        $crate::$then! { $with
            a_claim_is_held_by_one
            a_claim_sent_again_is_still_ours
            a_confirmation_sent_again_changes_nothing
            a_late_confirmation_says_so
            a_lease_ends
            a_lease_is_renewed_by_its_holder
            a_lease_that_ended_is_not_renewed
            a_literal_key_is_claimed_as_any_other
            a_race_is_won_by_one
            no_two_keys_share_a_claim
            only_the_holder_confirms
            only_the_holder_releases
            the_longest_times_overflow_nothing
            what_is_done_is_not_claimed
            what_is_done_is_not_released
            what_is_released_is_free
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __claim_table {
    ({} $($case:ident)*) => {
        const CASES: &[ClaimCase] =
            &[$(ClaimCase { name: stringify!($case), run: |on| Box::pin(cases::$case(on)) },)*];
    };
}

crate::__with_claim_cases!(__claim_table {});

/// Everything that every store of claims owes, save that it answers a random history as the reference does.
#[must_use]
pub const fn claim_cases() -> &'static [ClaimCase] {
    CASES
}

/// The case of this name.
#[must_use]
pub fn claim_case(name: &str) -> Option<&'static ClaimCase> {
    CASES.iter().find(|case| case.name == name)
}

/// Runs everything that [`certify_claims!`](crate::certify_claims) makes tests of, each on a store that `make` makes.
///
/// # Errors
/// At the first thing a store does not do.
pub async fn run_all_claims<C: Claims>(make: impl AsyncFn() -> C, setting: &Setting) -> Result<(), Failure> {
    for case in CASES {
        case.run(&make().await, setting).await?;
    }
    for seed in SEEDS {
        claims_differential(&make().await, setting, seed, CLAIM_STEPS).await?;
    }
    Ok(())
}
