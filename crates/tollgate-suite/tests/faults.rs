//! Each case fails on a store that is broken for it, and so do the random histories.

mod broken;
mod shown;

use broken::{Broken, Fault};
use shown::Shown;
use tollgate_suite::{Case, Door, STEPS, Setting, cases, differential, run_all};

/// Every case, with the faults that it finds.
const FOUND_BY: &[(&str, &[Fault])] = &[
    (
        "always_counts_what_is_refused",
        &[Fault::AlwaysIsIfAllowed, Fault::CountStopsAtTheQuota, Fault::DebtIsForgotten],
    ),
    ("always_is_written_beside_a_refusal", &[Fault::AlwaysIsLostBesideARefusal]),
    ("never_is_a_peek_that_votes", &[Fault::NeverIsIfAllowed, Fault::NeverHasNoVote]),
    ("a_shadow_never_refuses", &[Fault::ShadowsVote]),
    ("a_shadow_is_written_with_its_take", &[Fault::ShadowsAreNotKept]),
    ("a_window_ends_where_the_next_begins", &[Fault::ClockIsLate, Fault::ClockIsInSeconds]),
    ("a_clock_behind_is_decided_in_the_newest_window", &[Fault::NewerWindowIsIgnored]),
    ("a_clock_more_than_a_window_behind_is_refused", &[Fault::BehindIsAccepted, Fault::BehindIsHalfTaken]),
    ("a_clock_that_steps_back_opens_no_window_twice", &[Fault::NewerWindowIsIgnored]),
    ("a_bucket_keeps_its_refills_when_a_clock_steps_back", &[Fault::RefillsFollowTheClockBack]),
    ("racing_takes_never_pass_the_quota", &[Fault::ReadsThenWrites]),
    ("racing_takes_of_several_keys_stay_whole", &[Fault::ReadsThenWritesSeveral]),
    ("a_settlement_sent_at_once_is_applied_once", &[Fault::SettlesTwiceAtOnce]),
    ("racing_settlements_add_up", &[Fault::SettleReadsThenWrites]),
    ("a_weight_that_is_whole_is_not_rounded", &[Fault::WeightIsAFloatOfTheShare]),
    ("a_weight_next_to_whole_is_rounded_up", &[Fault::WeightIsRoundedDown, Fault::WeightIsRoundedToNearest]),
    ("large_amounts_lose_nothing", &[Fault::WeightIsAFloat, Fault::CountsAreCutTo32Bits]),
    ("counts_stop_at_the_largest_number", &[Fault::LargestCountStartsOver, Fault::DebtIsForgotten]),
    ("a_refusal_fits_at_its_retry_and_not_before", &[Fault::RefillsAreInSeconds]),
    ("a_forgotten_key_is_new", &[Fault::ForgetDoesNothing, Fault::ForgetLeavesThePrevious]),
    (
        "only_the_named_keys_are_forgotten",
        &[Fault::ForgetIsByPrefix, Fault::ForgetIsByPattern, Fault::ForgetIsByName],
    ),
    ("several_are_forgotten_together", &[Fault::OnlyTheFirstIsForgotten]),
    ("forgetting_what_nobody_knows_is_no_error", &[Fault::ForgetOfUnknownFails]),
    (
        "no_two_part_lists_share_a_count",
        &[
            Fault::PartsAreJoinedPlainly,
            Fault::LongPartsAreCut,
            Fault::LongPartsAreKnownByTheirLength,
            Fault::CaseIsFolded,
            Fault::SpaceIsTrimmed,
            Fault::NulEndsAPart,
            Fault::OnlyAsciiIsKept,
        ],
    ),
    ("a_number_is_its_decimal_text", &[Fault::NumbersAreOtherKeys]),
    ("a_user_and_a_visitor_of_one_name_are_two", &[Fault::SubjectsAreDropped]),
    ("names_are_counted_apart", &[Fault::NamesAreDropped, Fault::NamesStopAtAHyphen]),
    ("one_key_twice_in_a_take_is_misuse", &[Fault::TwiceIsAccepted, Fault::MisuseIsHalfTaken]),
    ("nine_charges_in_a_take_are_misuse", &[Fault::NineAreAccepted, Fault::MisuseIsHalfTaken]),
    ("a_settlement_is_held_to_the_same_rules", &[Fault::SettleIsNotChecked, Fault::RefusedSettleSpendsItsId]),
    ("forgetting_is_held_to_the_same_rules", &[Fault::ForgetIsNotChecked]),
    (
        "a_settlement_gives_back_and_takes_more",
        &[Fault::SettleDoesNothing, Fault::SettleTakesOnly, Fault::SettleStopsAtTheQuota],
    ),
    ("a_settlement_is_applied_once", &[Fault::SettleIsAppliedTwice, Fault::SettleIdIsItsWords]),
    ("an_id_is_one_settlement_of_all_keys", &[Fault::SettleIdIsPerKey, Fault::SettleIsAppliedTwice]),
    (
        "a_late_settlement_leaves_the_new_window_alone",
        &[Fault::SettleIsInTheCurrentWindow, Fault::SettleForgetsWhatIsOver],
    ),
    ("a_settlement_reaches_a_window_that_still_weighs", &[Fault::SettleIsInTheCurrentWindowOnly]),
    ("a_settlement_creates_nothing", &[Fault::SettleCreatesKeys, Fault::SettleRevivesZero]),
    (
        "what_a_full_bucket_did_not_give_is_owed",
        &[Fault::SettleForgivesAFullBucket, Fault::SettleForgivesAMissingBucket],
    ),
    ("a_refund_never_gives_more_than_the_quota", &[Fault::RefundIsACredit]),
    (
        "a_debt_outlasts_its_window_as_long_as_it_weighs",
        &[Fault::DebtEndsWithItsWindow, Fault::SettleStopsAtTheQuota],
    ),
    ("several_are_settled_together", &[Fault::OnlyTheFirstIsSettled]),
    ("what_was_charged_always_is_settled_too", &[Fault::SettleDoesNothing]),
    ("a_quota_is_admitted_and_no_more", &[Fault::NowOnlyLooks, Fault::NowCountsAndSaysNothing]),
    ("what_is_over_is_forgiven", &[Fault::FullBucketKeepsItsPhase, Fault::CostIsAlwaysOne]),
    ("a_previous_window_weighs_its_share", &[Fault::PreviousIsForgotten, Fault::WeightIsRoundedDown]),
    ("a_cost_above_the_quota_never_fits", &[Fault::CostIsCutToTheQuota]),
    ("a_closed_limit_refuses_everything", &[Fault::ClosedIsUnlimited]),
    ("a_cost_of_zero_changes_nothing", &[Fault::CostOfZeroIsOne]),
    ("several_are_taken_together_or_not_at_all", &[Fault::RefusedIsHalfTaken, Fault::OnlyTheFirstIsWritten]),
    ("the_latest_refusal_says_when_to_retry", &[Fault::OnlyTheFirstIsWritten]),
    (
        "from_none_to_eight_charges_are_taken",
        &[Fault::NothingIsMisuse, Fault::SevenAtMost, Fault::OrderIsReversed],
    ),
    ("another_quota_holds_at_once", &[Fault::FirstQuotaStays]),
];

/// What random histories do not meet, so that only a case finds it.
const NOT_MET_BY_HISTORIES: &[Fault] = &[
    Fault::NothingIsMisuse,
    Fault::ReadsThenWrites,
    Fault::ReadsThenWritesSeveral,
    Fault::SettlesTwiceAtOnce,
    Fault::SettleReadsThenWrites,
    Fault::SettleIdIsPerKey,
    Fault::PartsAreJoinedPlainly,
    Fault::LongPartsAreCut,
    Fault::LongPartsAreKnownByTheirLength,
    Fault::CaseIsFolded,
    Fault::SpaceIsTrimmed,
    Fault::NulEndsAPart,
    Fault::OnlyAsciiIsKept,
    Fault::NumbersAreOtherKeys,
    Fault::SubjectsAreDropped,
    Fault::NamesAreDropped,
    Fault::NamesStopAtAHyphen,
    Fault::SettleIsNotChecked,
    Fault::RefusedSettleSpendsItsId,
    Fault::ForgetIsNotChecked,
    Fault::SettleIdIsItsWords,
    Fault::ForgetIsByPrefix,
    Fault::ForgetIsByPattern,
];

#[tokio::test]
async fn a_store_without_a_fault_passes() {
    run_all(async || Broken::new(None), &Setting::default()).await.unwrap();
}

const SHOWN: Shown<Fault> =
    Shown { all: Fault::ALL, found_by: FOUND_BY, not_met_by_histories: NOT_MET_BY_HISTORIES };

#[tokio::test]
async fn each_case_fails_on_a_store_that_is_broken_for_it() {
    let names = cases().iter().map(Case::name);
    let finds = async |at: usize, fault| {
        let mut is_found = false;
        for door in Door::ALL {
            let store = Broken::new(Some(fault));
            is_found |= cases()[at].run(&store, &Setting::default(), door).await.is_err();
        }
        is_found
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
        differential(&Broken::new(Some(fault)), &Setting::default(), seed, STEPS).await.is_err()
    };
    SHOWN.random_histories_find_the_others(finds).await;
}
