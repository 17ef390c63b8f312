//! Corrections of earlier charges, in the windows they were made in.

use tollgate_core::{Charging, Limit, Window};
use tollgate_store::Charge;

use crate::{
    Failure,
    ground::{Answer, Ground},
    setting::after,
};

pub(crate) async fn a_settlement_gives_back_and_takes_more(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let now = after(start, 20_000);
    let limits = [
        ("fixed", Limit::fixed(1_000, Window::MINUTE)),
        ("sliding", Limit::sliding(1_000, Window::MINUTE)),
        ("bucket", Limit::bucket(1_000, 1, Window::MINUTE)),
    ];
    for ((kind, limit), at) in limits.into_iter().zip((0..).step_by(4)) {
        let slot = on.slot(kind);
        let taken = on.take_one(slot.cost(limit, 1_000), start).await?;
        on.settle(on.id(at), &[slot.correct(limit, &taken, -800)], now).await?;
        on.same("what is left after 800 of 1,000 came back", on.left(&slot, limit, now).await?, 800)?;
        on.settle(on.id(at + 1), &[slot.correct(limit, &taken, 1_300)], now).await?;
        on.same("what is left after 1,300 more", on.left(&slot, limit, now).await?, -500)?;
        let refused = on.take_one(slot.charge(limit), now).await?;
        on.same("whether a charge fits a debt", refused.is_allowed(), false)?;
        on.settle(on.id(at + 2), &[slot.correct(limit, &taken, -501)], now).await?;
        on.same("what is left after the debt was paid", on.left(&slot, limit, now).await?, 1)?;
        on.settle(on.id(at + 3), &[slot.correct(limit, &taken, 0)], now).await?;
        on.same("what is left after a correction by nothing", on.left(&slot, limit, now).await?, 1)?;
    }
    Ok(())
}

pub(crate) async fn a_settlement_is_applied_once(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limits = [
        ("fixed", Limit::fixed(100, Window::MINUTE)),
        ("sliding", Limit::sliding(100, Window::MINUTE)),
        ("bucket", Limit::bucket(100, 1, Window::MINUTE)),
    ];
    for ((kind, limit), at) in limits.into_iter().zip((0..).step_by(2)) {
        let slot = on.slot(kind);
        let taken = on.take_one(slot.cost(limit, 60), start).await?;
        let correction = [slot.correct(limit, &taken, -10)];
        for _ in 0..3 {
            on.settle(on.id(at), &correction, start).await?;
            on.same("what is left, however often it was sent", on.left(&slot, limit, start).await?, 50)?;
        }
        // The id is what counts, not what is sent under it.
        on.settle(on.id(at), &[slot.correct(limit, &taken, -20)], start).await?;
        on.same("what is left after other words under the same id", on.left(&slot, limit, start).await?, 50)?;
        on.settle(on.id(at + 1), &correction, start).await?;
        on.same(
            "what is left after the same words under another id",
            on.left(&slot, limit, start).await?,
            60,
        )?;
    }
    Ok(())
}

pub(crate) async fn an_id_is_one_settlement_of_all_keys(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(100, Window::MINUTE);
    let slots = ["one", "other"].map(|label| on.slot(label));
    let taken = on.take(&slots.each_ref().map(|slot| slot.cost(limit, 60)), start).await?;
    let corrections = [0, 1].map(|at| slots[at].correct(limit, &taken[at], -10));
    on.settle(on.id(0), &corrections[..1], start).await?;
    // Neither what was left out the first time nor both together come after.
    for again in [&corrections[1..], &corrections] {
        on.settle(on.id(0), again, start).await?;
        let left = [on.left(&slots[0], limit, start).await?, on.left(&slots[1], limit, start).await?];
        on.same("what is left of both keys", left, [50, 40])?;
    }
    Ok(())
}

pub(crate) async fn a_late_settlement_leaves_the_new_window_alone(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let limits = [
        ("fixed", Limit::fixed(10, Window::MINUTE), end),
        ("sliding", Limit::sliding(10, Window::MINUTE), after(end, 60_000)),
    ];
    for ((kind, limit, over_at), at) in limits.into_iter().zip((0..).step_by(2)) {
        let slot = on.slot(kind);
        let taken = on.take_one(slot.cost(limit, 8), start).await?;
        on.spend(slot.cost(limit, 3), over_at).await?;
        for (delta, number) in [(-8, at), (8, at + 1)] {
            on.settle(on.id(number), &[slot.correct(limit, &taken, delta)], over_at).await?;
            on.same("what is left of the new window", on.left(&slot, limit, over_at).await?, 7)?;
        }
    }
    Ok(())
}

pub(crate) async fn a_settlement_reaches_a_window_that_still_weighs(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::sliding(10, Window::MINUTE);
    let half = after(start, 90_000);

    // Where nothing was charged in the new window, and where something was.
    for (label, of_new, number) in [("idle", 0, 0), ("busy", 1, 1)] {
        let slot = on.slot(label);
        let taken = on.take_one(slot.cost(limit, 8), start).await?;
        on.spend(slot.cost(limit, u64::from(of_new > 0)), half).await?;
        on.same("what is left, half of eight weighing", on.left(&slot, limit, half).await?, 6 - of_new)?;
        on.settle(on.id(number), &[slot.correct(limit, &taken, -6)], half).await?;
        on.same("what is left, half of two weighing", on.left(&slot, limit, half).await?, 9 - of_new)?;
        on.same("at the next window", on.left(&slot, limit, after(start, 120_000)).await?, 10 - of_new)?;
    }
    Ok(())
}

pub(crate) async fn a_settlement_creates_nothing(on: &Ground<'_>) -> Result<(), Failure> {
    let first = on.start(Window::MINUTE);
    let limits = [
        ("fixed", Limit::fixed(10, Window::MINUTE)),
        ("sliding", Limit::sliding(10, Window::MINUTE)),
        ("bucket", Limit::bucket(10, 1, Window::MINUTE)),
    ];
    for ((kind, limit), at) in limits.into_iter().zip((0..).step_by(8)) {
        let start = after(first, 600_000 * u64::from(at));
        let end = after(start, 60_000);
        let (slot, charged) = (on.slot(kind), on.slot("charged"));
        let stamp_of = on.take_one(charged.peek(limit, 1), start).await?;
        // A bucket that is not there is full: it has no room for a refund, and pays what was used beyond an estimate.
        let more = if matches!(limit, Limit::TokenBucket { .. }) { 0 } else { 5 };
        for (delta, number) in [(more, at), (-5, at + 1)] {
            on.settle(on.id(number), &[slot.correct(limit, &stamp_of, delta)], start).await?;
            on.expect("a key nobody has charged", slot.peek(limit, 1), start, Answer::allow(10, end)).await?;
        }

        let taken = on.take_one(slot.cost(limit, 4), start).await?;
        on.forget(&[slot.target(limit)], start).await?;
        for (delta, number) in [(more, at + 2), (-5, at + 3)] {
            on.settle(on.id(number), &[slot.correct(limit, &taken, delta)], start).await?;
            on.expect("a forgotten key", slot.peek(limit, 1), start, Answer::allow(10, end)).await?;
        }

        // A count that was given back whole is none.
        let taken = on.take_one(slot.cost(limit, 4), start).await?;
        on.settle(on.id(at + 4), &[slot.correct(limit, &taken, -4)], start).await?;
        on.settle(on.id(at + 5), &[slot.correct(limit, &taken, more)], start).await?;
        on.same("a key whose charges were given back", on.left(&slot, limit, start).await?, 10)?;
        let idle = after(start, 600_000);
        on.settle(on.id(at + 6), &[slot.correct(limit, &taken, more)], idle).await?;
        on.same("a key that is idle", on.left(&slot, limit, idle).await?, 10)?;
    }
    Ok(())
}

pub(crate) async fn what_a_full_bucket_did_not_give_is_owed(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::bucket(1_000, 100, Window::MINUTE);
    // Two minutes later it has been refilled, and a store may have dropped it: what was taken is back, what was used beyond is not.
    let later = after(start, 120_000);
    for (label, at) in [("full", 0), ("forgotten", 3), ("given back", 6)] {
        let slot = on.slot(label);
        let taken = on.take_one(slot.cost(limit, 100), start).await?;
        match label {
            "forgotten" => on.forget(&[slot.target(limit)], start).await?,
            "given back" => on.settle(on.id(at + 1), &[slot.correct(limit, &taken, -100)], start).await?,
            _ => {}
        }
        for _ in 0..2 {
            on.settle(on.id(at), &[slot.correct(limit, &taken, 800)], later).await?;
            on.same("what is left once 800 more were used", on.left(&slot, limit, later).await?, 200)?;
        }
        let charge = slot.peek(limit, 300);
        on.expect("the rest", charge, later, Answer::deny(200, after(later, 60_000), after(later, 60_000)))
            .await?;
        // As much as there can be, and more than there is: a debt.
        on.settle(on.id(at + 2), &[slot.correct(limit, &taken, 1_700)], after(later, 480_000)).await?;
        on.same("what is left of a debt", on.left(&slot, limit, after(later, 480_000)).await?, -700)?;
        on.same("and a refill later", on.left(&slot, limit, after(later, 540_000)).await?, -600)?;
    }
    Ok(())
}

pub(crate) async fn a_refund_never_gives_more_than_the_quota(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limits = [
        ("fixed", Limit::fixed(10, Window::MINUTE)),
        ("sliding", Limit::sliding(10, Window::MINUTE)),
        ("bucket", Limit::bucket(10, 1, Window::MINUTE)),
    ];
    for ((kind, limit), at) in limits.into_iter().zip((0..).step_by(2)) {
        let slot = on.slot(kind);
        let taken = on.take_one(slot.cost(limit, 4), start).await?;
        on.settle(on.id(at), &[slot.correct(limit, &taken, -9)], start).await?;
        on.same("what is left after more came back than was taken", on.left(&slot, limit, start).await?, 10)?;
        let taken = on.take_one(slot.cost(limit, 4), start).await?;
        on.same("what is left of the next four", on.left(&slot, limit, start).await?, 6)?;
        on.settle(on.id(at + 1), &[slot.correct(limit, &taken, i64::MIN)], start).await?;
        on.same("and after everything did", on.left(&slot, limit, start).await?, 10)?;
    }

    // A minute after it was emptied, one unit has been refilled: the refund of ten leaves no room for it.
    let (slot, limit) = (on.slot("refilled"), Limit::bucket(10, 1, Window::MINUTE));
    let taken = on.take_one(slot.cost(limit, 10), start).await?;
    let later = after(start, 90_000);
    on.settle(on.id(6), &[slot.correct(limit, &taken, -10)], later).await?;
    on.expect(
        "a bucket that is full again",
        slot.charge(limit),
        later,
        Answer::allow(9, after(later, 60_000)),
    )
    .await?;
    Ok(())
}

pub(crate) async fn a_debt_outlasts_its_window_as_long_as_it_weighs(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);

    let (slot, limit) = (on.slot("sliding"), Limit::sliding(1_000, Window::MINUTE));
    let taken = on.take_one(slot.cost(limit, 100), start).await?;
    on.settle(on.id(0), &[slot.correct(limit, &taken, 1_900)], start).await?;
    // Of 2,000 a half weighs as much as the quota, and 999 weigh one less.
    for (ms, left) in [(0, -1_000), (15_000, -500), (30_000, 0), (30_029, 0), (30_030, 1)] {
        let now = after(end, ms);
        on.same("what is left of a sliding window", on.left(&slot, limit, now).await?, left)?;
        let charge = on.take_one(slot.peek(limit, 1), now).await?;
        on.same("whether one more fits", charge.is_allowed(), left >= 1)?;
        if left < 1 {
            on.same("when it will", charge.retry_at(), Some(after(end, 30_030)))?;
        }
    }

    let (slot, limit) = (on.slot("fixed"), Limit::fixed(1_000, Window::MINUTE));
    let taken = on.take_one(slot.cost(limit, 100), start).await?;
    on.settle(on.id(1), &[slot.correct(limit, &taken, 1_900)], start).await?;
    on.same("what is left of a fixed window", on.left(&slot, limit, start).await?, -1_000)?;
    on.same("and of the next", on.left(&slot, limit, end).await?, 1_000)?;

    let (slot, limit) = (on.slot("bucket"), Limit::bucket(1_000, 100, Window::MINUTE));
    let taken = on.take_one(slot.cost(limit, 100), start).await?;
    on.settle(on.id(2), &[slot.correct(limit, &taken, 1_900)], start).await?;
    for (minutes, left) in [(0, -1_000), (9, -100), (10, 0), (11, 100)] {
        let now = after(start, 60_000 * minutes);
        on.same("what is left of a bucket", on.left(&slot, limit, now).await?, left)?;
    }
    Ok(())
}

pub(crate) async fn several_are_settled_together(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::HOUR);
    let slots = ["1", "2", "3", "4", "5", "6", "7", "8"].map(|label| on.slot(label));
    let limits = [
        Limit::fixed(50, Window::MINUTE),
        Limit::sliding(50, Window::MINUTE),
        Limit::bucket(50, 1, Window::MINUTE),
        Limit::fixed(50, Window::HOUR),
        Limit::sliding(50, Window::HOUR),
        Limit::bucket(50, 1, Window::HOUR),
        Limit::fixed(50, Window::HOUR),
        Limit::sliding(50, Window::HOUR),
    ];
    let charges: Vec<_> = slots.iter().zip(limits).map(|(slot, limit)| slot.cost(limit, 20)).collect();
    let decisions = on.take(&charges, start).await?;
    let corrections: Vec<_> = slots
        .iter()
        .zip(limits)
        .zip(&decisions)
        .zip([-1, 2, -3, 4, -5, 6, -7, 8])
        .map(|(((slot, limit), decision), delta)| slot.correct(limit, decision, delta))
        .collect();
    for _ in 0..2 {
        on.settle(on.id(0), &corrections, start).await?;
        let mut left = Vec::new();
        for (slot, limit) in slots.iter().zip(limits) {
            left.push(on.left(slot, limit, start).await?);
        }
        on.same("what eight corrections leave", left, vec![31, 28, 33, 26, 35, 24, 37, 22])?;
    }
    on.settle(on.id(1), &[], start).await
}

pub(crate) async fn what_was_charged_always_is_settled_too(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let (slot, limit) = (on.slot("always"), Limit::fixed(10, Window::MINUTE));
    let always = Charge { charging: Charging::Always, ..slot.cost(limit, 15) };
    let refused = on.take_one(always, start).await?;
    on.same("what is left", refused.left(), -5)?;
    on.settle(on.id(0), &[slot.correct(limit, &refused, -15)], start).await?;
    on.same("what is left once it came back", on.left(&slot, limit, start).await?, 10)
}
