//! The list of cases, and the ways to run them.

use std::{fmt, pin::Pin};

use tollgate_store::Store;

use crate::{
    Failure, Setting, cases as groups, differential,
    differential::{SEEDS, STEPS},
    ground::Ground,
};

type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + 'a>>;

/// How a case takes. Each case is run both ways.
///
/// The enum is exhaustive on purpose: these are the two ways a [`Store`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// By [`Store::take`] alone.
    Take,
    /// As a guard does: by [`Store::take_now`], and by [`Store::take`] where that says nothing.
    TakeNow,
}

impl Door {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Take, Self::TakeNow];
}

/// One thing that every store owes.
#[derive(Clone, Copy)]
pub struct Case {
    name: &'static str,
    group: &'static str,
    run: for<'a> fn(&'a Ground<'a>) -> Running<'a>,
}

impl Case {
    /// Its name: a sentence.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What kind of behaviour it is about: the name of the file it is written in.
    #[must_use]
    pub const fn group(&self) -> &'static str {
        self.group
    }

    /// Runs it on a store that has not seen it before, in this setting and through this door.
    ///
    /// # Errors
    /// If the store does not do what it owes.
    pub async fn run(&self, store: &dyn Store, setting: &Setting, door: Door) -> Result<(), Failure> {
        (self.run)(&Ground { store, setting, case: self.name, door }).await
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.group, self.name)
    }
}

/// Calls another macro with what it was given and the names of all cases, file by file: the one list of them.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_cases {
    ($then:ident $with:tt) => {
        $crate::$then! { $with
            charging {
                always_counts_what_is_refused
                always_is_written_beside_a_refusal
                never_is_a_peek_that_votes
                a_shadow_never_refuses
                a_shadow_is_written_with_its_take
            }
            clock {
                a_window_ends_where_the_next_begins
                a_clock_behind_is_decided_in_the_newest_window
                a_clock_more_than_a_window_behind_is_refused
                a_clock_that_steps_back_opens_no_window_twice
                a_bucket_keeps_its_refills_when_a_clock_steps_back
            }
            concurrency {
                racing_takes_never_pass_the_quota
                racing_takes_of_several_keys_stay_whole
                a_settlement_sent_at_once_is_applied_once
                racing_settlements_add_up
            }
            exact {
                a_weight_that_is_whole_is_not_rounded
                a_weight_next_to_whole_is_rounded_up
                large_amounts_lose_nothing
                counts_stop_at_the_largest_number
                a_refusal_fits_at_its_retry_and_not_before
            }
            forget {
                a_forgotten_key_is_new
                only_the_named_keys_are_forgotten
                several_are_forgotten_together
                forgetting_what_nobody_knows_is_no_error
            }
            keys {
                no_two_part_lists_share_a_count
                a_number_is_its_decimal_text
                a_user_and_a_visitor_of_one_name_are_two
                names_are_counted_apart
            }
            misuse {
                one_key_twice_in_a_take_is_misuse
                nine_charges_in_a_take_are_misuse
                a_settlement_is_held_to_the_same_rules
                forgetting_is_held_to_the_same_rules
            }
            settle {
                a_settlement_gives_back_and_takes_more
                a_settlement_is_applied_once
                an_id_is_one_settlement_of_all_keys
                a_late_settlement_leaves_the_new_window_alone
                a_settlement_reaches_a_window_that_still_weighs
                a_settlement_creates_nothing
                what_a_full_bucket_did_not_give_is_owed
                a_refund_never_gives_more_than_the_quota
                a_debt_outlasts_its_window_as_long_as_it_weighs
                several_are_settled_together
                what_was_charged_always_is_settled_too
            }
            take {
                a_quota_is_admitted_and_no_more
                what_is_over_is_forgiven
                a_previous_window_weighs_its_share
                a_cost_above_the_quota_never_fits
                a_closed_limit_refuses_everything
                a_cost_of_zero_changes_nothing
                several_are_taken_together_or_not_at_all
                the_latest_refusal_says_when_to_retry
                from_none_to_eight_charges_are_taken
                another_quota_holds_at_once
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __table {
    ({} $($group:ident { $($case:ident)* })*) => {
        const CASES: &[Case] = &[$($(
            Case {
                name: stringify!($case),
                group: stringify!($group),
                run: |on| Box::pin(groups::$group::$case(on)),
            },
        )*)*];
    };
}

crate::__with_cases!(__table {});

/// Everything that every store owes, save that it answers a random history as the core does: that is
/// [`differential`](crate::differential).
#[must_use]
pub const fn cases() -> &'static [Case] {
    CASES
}

/// The case of this name.
#[must_use]
pub fn case(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

/// Runs everything that [`certify!`](crate::certify) makes tests of, each on a store that `make` makes.
///
/// # Errors
/// At the first thing a store does not do.
pub async fn run_all<S: Store>(make: impl AsyncFn() -> S, setting: &Setting) -> Result<(), Failure> {
    for case in CASES {
        for door in Door::ALL {
            case.run(&make().await, setting, door).await?;
        }
    }
    for seed in SEEDS {
        differential(&make().await, setting, seed, STEPS).await?;
    }
    Ok(())
}
