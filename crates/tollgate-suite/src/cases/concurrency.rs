//! Takes and settlements that race.
//!
//! Half of the calls come from threads of their own, where the store answers at once; the rest are joined in one
//! task, so that a store that waits between reading and writing is caught in between. Neither needs a runtime of this
//! crate's.

use std::thread;

use futures_util::future::{join, join_all};
use tollgate_core::{Limit, Window};
use tollgate_store::{Charge, Decisions, StoreError, Take};

use crate::{Door, Failure, ground::Ground, setting::after};

const THREADS: usize = 8;

/// Sends every take at once and gives back all answers.
async fn race(on: &Ground<'_>, takes: &[Take<'_>]) -> Vec<Result<Decisions, StoreError>> {
    if on.door == Door::Take {
        return join_all(takes.iter().map(|take| on.store.take(*take))).await;
    }
    let chunk = takes.len().div_ceil(THREADS).max(1);
    let at_once: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = takes
            .chunks(chunk)
            .map(|takes| scope.spawn(|| takes.iter().map(|take| on.store.take_now(take)).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    join_all(at_once.into_iter().zip(takes).map(async |(answer, take)| match answer {
        Some(answer) => answer,
        None => on.store.take(*take).await,
    }))
    .await
}

fn admitted(
    on: &Ground<'_>,
    answers: &[Result<Decisions, StoreError>],
    sent: usize,
) -> Result<usize, Failure> {
    on.same("how many takes were answered", answers.len(), sent)?;
    let mut admitted = 0;
    for answer in answers {
        match answer {
            Ok(decisions) => admitted += usize::from(decisions.is_admitted()),
            Err(error) => return Err(on.unexpected("a take among many", error)),
        }
    }
    Ok(admitted)
}

pub(crate) async fn racing_takes_never_pass_the_quota(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::DAY);
    let limits = [
        ("fixed", Limit::fixed(100, Window::DAY)),
        ("sliding", Limit::sliding(100, Window::DAY)),
        ("bucket", Limit::bucket(100, 1, Window::HOUR)),
    ];
    for (kind, limit) in limits {
        let slot = on.slot(kind);
        let charges = [slot.charge(limit)];
        let takes = vec![Take { charges: &charges, now: after(start, 5) }; 1_000];
        let answers = race(on, &takes).await;
        on.same(
            &format!("{kind}: how many of 1,000 racing takes fit a quota of 100"),
            admitted(on, &answers, 1_000)?,
            100,
        )?;
        let mut left: Vec<_> = answers
            .iter()
            .flatten()
            .filter(|answer| answer.is_admitted())
            .map(|answer| answer[0].left())
            .collect();
        left.sort_unstable();
        on.same(&format!("{kind}: what each of them was told is left"), left, (0..100).collect())?;
    }
    Ok(())
}

pub(crate) async fn racing_takes_of_several_keys_stay_whole(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::DAY);
    let slots = ["a", "b", "c"].map(|label| on.slot(label));
    let limits = [60, 50, 70].map(|quota| Limit::fixed(quota, Window::DAY));
    let charge = |at: usize| slots[at].charge(limits[at]);
    // In every order, so that two takes that lock as they go would wait for each other for ever.
    let orders: Vec<Vec<Charge<'_>>> = [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]]
        .iter()
        .map(|order| order.map(charge).to_vec())
        .collect();
    let takes: Vec<_> = orders.iter().cycle().take(300).map(|charges| Take { charges, now: start }).collect();
    let answers = race(on, &takes).await;
    on.same("how many of 300 racing takes fit the smallest quota", admitted(on, &answers, 300)?, 50)?;
    for (at, left) in [(0, 10), (1, 0), (2, 20)] {
        on.same("what is left of each key", on.left(&slots[at], limits[at], start).await?, left)?;
    }
    Ok(())
}

pub(crate) async fn a_settlement_sent_at_once_is_applied_once(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::DAY);
    let (slot, limit) = (on.slot("key"), Limit::bucket(100, 1, Window::HOUR));
    let taken = on.take_one(slot.cost(limit, 90), start).await?;
    let correction = [slot.correct(limit, &taken, -3)];
    for answer in join_all((0..20).map(|_| on.settle(on.id(0), &correction, start))).await {
        answer?;
    }
    on.same("what is left after 20 at once", on.left(&slot, limit, start).await?, 13)?;
    for answer in
        join_all((1..=20).map(async |number| on.settle(on.id(number), &correction, start).await)).await
    {
        answer?;
    }
    on.same("what is left after 20 different ones", on.left(&slot, limit, start).await?, 73)
}

pub(crate) async fn racing_settlements_add_up(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::DAY);
    let limits = [
        ("fixed", Limit::fixed(100_000, Window::DAY)),
        ("sliding", Limit::sliding(100_000, Window::DAY)),
        ("bucket", Limit::bucket(100_000, 1, Window::DAY)),
    ];
    for ((kind, limit), first) in limits.into_iter().zip((0..).step_by(100)) {
        let slot = on.slot(kind);
        let taken = on.take_one(slot.cost(limit, 10_000), start).await?;
        // Half give back what the other half takes, and 40 more are taken in all; others take meanwhile.
        let settle = async |number: u32| {
            let delta = if number.is_multiple_of(2) { -7 } else { 9 };
            on.settle(on.id(first + number), &[slot.correct(limit, &taken, delta)], start).await
        };
        let take = async || on.spend(slot.cost(limit, 3), start).await;
        let settled = join_all((0..40).map(settle));
        let (settled, taken) = join(settled, join_all((0..20).map(|_| take()))).await;
        for answer in settled.into_iter().chain(taken) {
            answer?;
        }
        on.same(
            &format!("{kind}: what 40 settlements and 20 takes at once leave"),
            on.left(&slot, limit, start).await?,
            100_000 - 10_000 - 40 - 60,
        )?;
    }
    Ok(())
}
