//! Budgets, from the guard down, on every store: in memory, on a real Redis, and through a gateway in front of one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cases;
mod chats;
mod history;
mod place;

/// Makes a test of each function on each store.
macro_rules! on_every_store {
    ($($module:ident { $($case:ident)* })*) => {
        mod memory {
            use crate::place::Place;

            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    crate::$module::$case(&Place::memory()).await;
                }
            )*)*
        }

        mod redis {
            use crate::place::Place;

            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let place = Place::redis();
                    crate::$module::$case(&place).await;
                    place.check_lifetimes();
                }
            )*)*
        }

        mod upstash {
            use crate::place::Place;

            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let place = Place::upstash().await;
                    crate::$module::$case(&place).await;
                    place.check_lifetimes();
                }
            )*)*
        }
    };
}

on_every_store! {
    cases {
        b1_reservations_that_race_stay_within_the_quota
        b2_what_was_too_much_comes_back
        b3_what_was_too_little_is_a_debt
        b4_a_reservation_that_is_dropped_is_settled_to_what_was_noted
        b5_what_nobody_settles_is_spent_until_its_window_ends
        b6_a_settlement_is_applied_once
        b7_only_the_window_it_was_taken_in_is_corrected
        b8_a_store_that_is_gone_refuses_or_lets_through
        tokens_and_money_are_settled_each
    }
    chats { two_hundred_chats_are_settled_to_what_they_used }
    history { random_histories_count_what_was_used }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_killed_is_an_outage() {
    cases::a_server_that_is_killed_is_an_outage(Place::redis()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_killed_behind_its_gateway_is_an_outage() {
    cases::a_server_that_is_killed_is_an_outage(Place::upstash().await).await;
}

use place::Place;
