//! What a take admits, refuses and leaves.

use tollgate_core::{Decision, Limit, Units, Window};

use crate::{
    Failure,
    ground::{Answer, Ground},
    setting::after,
};

pub(crate) async fn a_quota_is_admitted_and_no_more(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let now = after(start, 1_000);
    let end = after(start, 60_000);
    // Three in the next window still weigh, until it is a third over; the bucket's first refill is due a minute after
    // the first.
    let limits = [
        ("fixed", Limit::fixed(3, Window::MINUTE), end, end),
        ("sliding", Limit::sliding(3, Window::MINUTE), end, after(end, 20_000)),
        ("bucket", Limit::bucket(3, 1, Window::MINUTE), after(now, 60_000), after(now, 60_000)),
    ];
    for (kind, limit, reset_at, retry_at) in limits {
        let slot = on.slot(kind);
        for left in [2, 1, 0] {
            on.expect(kind, slot.charge(limit), now, Answer::allow(left, reset_at)).await?;
        }
        for _ in 0..2 {
            on.expect(kind, slot.charge(limit), now, Answer::deny(0, reset_at, retry_at)).await?;
        }
    }
    Ok(())
}

pub(crate) async fn what_is_over_is_forgiven(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let next = after(end, 60_000);

    let (slot, limit) = (on.slot("fixed"), Limit::fixed(4, Window::MINUTE));
    on.expect("fixed", slot.cost(limit, 4), after(start, 59_999), Answer::allow(0, end)).await?;
    on.expect("fixed, a window later", slot.cost(limit, 4), end, Answer::allow(0, next)).await?;
    let later = after(start, 600_000);
    on.expect("fixed, ten windows later", slot.charge(limit), later, Answer::allow(3, after(later, 60_000)))
        .await?;

    let (slot, limit) = (on.slot("sliding"), Limit::sliding(4, Window::MINUTE));
    on.expect("sliding", slot.cost(limit, 4), after(start, 1), Answer::allow(0, end)).await?;
    let half = after(end, 30_000);
    on.expect("sliding, half a window later", slot.cost(limit, 2), half, Answer::allow(0, next)).await?;
    let later = after(next, 60_000);
    on.expect(
        "sliding, two windows later",
        slot.cost(limit, 4),
        later,
        Answer::allow(0, after(later, 60_000)),
    )
    .await?;

    let (slot, limit) = (on.slot("bucket"), Limit::bucket(4, 1, Window::MINUTE));
    on.expect("bucket", slot.cost(limit, 4), start, Answer::allow(0, end)).await?;
    on.expect("bucket, two refills later", slot.cost(limit, 2), after(next, 59_999), Answer::allow(0, later))
        .await?;
    // Full again, it starts anew from where it is next drawn from.
    let full = after(next, 250_000);
    let refill = after(full, 60_000);
    on.expect("bucket, full", slot.charge(limit), full, Answer::allow(3, refill)).await?;
    on.expect("bucket, a moment later", slot.charge(limit), after(full, 1), Answer::allow(2, refill)).await
}

pub(crate) async fn a_previous_window_weighs_its_share(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let next = after(end, 60_000);

    let (slot, limit) = (on.slot("one"), Limit::sliding(1, Window::MINUTE));
    on.expect("the only unit", slot.charge(limit), after(start, 59_999), Answer::allow(0, end)).await?;
    on.expect("two milliseconds later", slot.charge(limit), after(end, 1), Answer::deny(0, next, next))
        .await?;
    on.expect(
        "at the next window's last instant",
        slot.charge(limit),
        after(end, 59_999),
        Answer::deny(0, next, next),
    )
    .await?;
    on.expect("after it", slot.charge(limit), next, Answer::allow(0, after(next, 60_000))).await?;

    let (slot, limit) = (on.slot("many"), Limit::sliding(100, Window::MINUTE));
    on.expect("fifty before", slot.cost(limit, 50), start, Answer::allow(50, end)).await?;
    // Nine tenths of fifty, and ten.
    on.expect("a tenth into the window", slot.cost(limit, 10), after(end, 6_000), Answer::allow(45, next))
        .await?;
    Ok(())
}

pub(crate) async fn a_cost_above_the_quota_never_fits(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let limits = [
        ("fixed", Limit::fixed(3, Window::MINUTE)),
        ("sliding", Limit::sliding(3, Window::MINUTE)),
        ("bucket", Limit::bucket(3, 1, Window::MINUTE)),
    ];
    for (kind, limit) in limits {
        let slot = on.slot(kind);
        on.expect(kind, slot.cost(limit, 4), start, Answer::never(3, end)).await?;
        on.expect(kind, slot.cost(limit, Units::MAX.get()), start, Answer::never(3, end)).await?;
        on.expect(kind, slot.cost(limit, 3), start, Answer::allow(0, end)).await?;
    }
    Ok(())
}

pub(crate) async fn a_closed_limit_refuses_everything(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let limits = [
        ("fixed", Limit::fixed(0, Window::MINUTE)),
        ("sliding", Limit::sliding(0, Window::MINUTE)),
        ("bucket", Limit::bucket(0, 1, Window::MINUTE)),
    ];
    for (kind, limit) in limits {
        let slot = on.slot(kind);
        for cost in [0, 1, Units::MAX.get()] {
            on.expect(kind, slot.cost(limit, cost), start, Answer::never(0, end)).await?;
        }
    }
    Ok(())
}

pub(crate) async fn a_cost_of_zero_changes_nothing(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let limits = [
        ("fixed", Limit::fixed(1, Window::MINUTE)),
        ("sliding", Limit::sliding(1, Window::MINUTE)),
        ("bucket", Limit::bucket(1, 1, Window::MINUTE)),
    ];
    for (kind, limit) in limits {
        let slot = on.slot(kind);
        for _ in 0..3 {
            on.expect(kind, slot.cost(limit, 0), start, Answer::allow(1, end)).await?;
        }
        on.expect(kind, slot.charge(limit), start, Answer::allow(0, end)).await?;
        on.expect(kind, slot.cost(limit, 0), start, Answer::allow(0, end)).await?;
    }
    Ok(())
}

pub(crate) async fn several_are_taken_together_or_not_at_all(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::HOUR);
    let (minute, hour) = (after(start, 60_000), after(start, 3_600_000));
    let slots = [on.slot("first"), on.slot("second"), on.slot("third")];
    let limits =
        [Limit::fixed(5, Window::MINUTE), Limit::fixed(1, Window::HOUR), Limit::bucket(5, 1, Window::MINUTE)];
    let charges = [slots[0].charge(limits[0]), slots[1].charge(limits[1]), slots[2].charge(limits[2])];

    let decisions = on.take(&charges, start).await?;
    on.same("whether the first take is admitted", decisions.is_admitted(), true)?;
    on.same("what it leaves of the first", Answer::from(&decisions[0]), Answer::allow(4, minute))?;
    on.same("what it leaves of the second", Answer::from(&decisions[1]), Answer::allow(0, hour))?;
    on.same("what it leaves of the third", Answer::from(&decisions[2]), Answer::allow(4, minute))?;

    for _ in 0..2 {
        let decisions = on.take(&charges, start).await?;
        on.same("whether a take that one refuses is admitted", decisions.is_admitted(), false)?;
        on.same("the refused take's first", Answer::from(&decisions[0]), Answer::allow(4, minute))?;
        on.same("the refused take's second", Answer::from(&decisions[1]), Answer::deny(0, hour, hour))?;
        on.same("the refused take's third", Answer::from(&decisions[2]), Answer::allow(4, minute))?;
        on.same("when it would be admitted", decisions.retry_at(), Some(hour))?;
        on.same("which charge refused", decisions.refusing().map(|(at, _)| at).collect(), vec![1])?;
    }
    for (slot, limit) in [(slots[0], limits[0]), (slots[2], limits[2])] {
        on.same("what a refused take left of another limit", on.left(&slot, limit, start).await?, 4)?;
    }
    Ok(())
}

pub(crate) async fn the_latest_refusal_says_when_to_retry(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::DAY);
    let slots = [on.slot("day"), on.slot("minute"), on.slot("hour")];
    let limits =
        [Limit::fixed(1, Window::DAY), Limit::fixed(1, Window::MINUTE), Limit::bucket(1, 1, Window::HOUR)];
    let charges = [slots[0].charge(limits[0]), slots[1].charge(limits[1]), slots[2].charge(limits[2])];
    on.spend_all(&charges, start).await?;

    let refused = on.take(&charges, after(start, 1)).await?;
    on.same("when three would fit", refused.retry_at(), Some(after(start, 86_400_000)))?;
    let refused = on.take(&charges[1..], after(start, 1)).await?;
    on.same("when the last two would fit", refused.retry_at(), Some(after(start, 3_600_000)))?;
    let never = slots[1].cost(limits[1], 2);
    let refused = on.take(&[charges[0], never], after(start, 1)).await?;
    on.same("when a take would fit of which one never does", refused.retry_at(), None)
}

pub(crate) async fn from_none_to_eight_charges_are_taken(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let none = on.take(&[], start).await?;
    on.same("whether a take of nothing is admitted", none.is_admitted(), true)?;

    let slots = ["1", "2", "3", "4", "5", "6", "7", "8"].map(|label| on.slot(label));
    let limits = [
        Limit::fixed(10, Window::MINUTE),
        Limit::sliding(20, Window::MINUTE),
        Limit::bucket(30, 1, Window::MINUTE),
        Limit::fixed(40, Window::HOUR),
        Limit::sliding(50, Window::HOUR),
        Limit::bucket(60, 1, Window::HOUR),
        Limit::fixed(70, Window::DAY),
        Limit::sliding(80, Window::DAY),
    ];
    let charges: Vec<_> =
        slots.iter().zip(limits).zip(1..).map(|((slot, limit), cost)| slot.cost(limit, cost)).collect();
    let decisions = on.take(&charges, start).await?;
    on.same("whether eight charges are admitted", decisions.is_admitted(), true)?;
    let left = decisions.iter().map(Decision::left).collect();
    on.same("what eight charges leave, in their order", left, vec![9, 18, 27, 36, 45, 54, 63, 72])?;

    let reversed: Vec<_> = charges.iter().rev().copied().collect();
    let decisions = on.take(&reversed, start).await?;
    let left = decisions.iter().map(Decision::left).collect();
    on.same("what they leave in another order", left, vec![64, 56, 48, 40, 32, 24, 16, 8])
}

pub(crate) async fn another_quota_holds_at_once(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limits = [
        ("fixed", Limit::fixed(10, Window::MINUTE)),
        ("sliding", Limit::sliding(10, Window::MINUTE)),
        ("bucket", Limit::bucket(10, 1, Window::MINUTE)),
    ];
    for (kind, limit) in limits {
        let slot = on.slot(kind);
        on.spend(slot.cost(limit, 10), start).await?;
        for _ in 0..40 {
            on.same(
                "whether the eleventh fits",
                on.take_one(slot.charge(limit), start).await?.is_allowed(),
                false,
            )?;
        }
    }
    for (kind, limit) in &limits[..2] {
        let (slot, raised, lowered) =
            (on.slot(kind), limit.with_quota(Units::new(20)), limit.with_quota(Units::new(5)));
        on.same("what is left under a lowered quota", on.left(&slot, lowered, start).await?, -5)?;
        let refused = on.take_one(slot.charge(lowered), start).await?;
        on.same("what remains then", refused.remaining(), 0)?;
        on.same("whether a wait helps then", refused.retry_at().is_some(), true)?;
        on.same(
            "whether ten more fit a raised quota",
            on.take_one(slot.cost(raised, 10), start).await?.left(),
            0,
        )?;
        on.same("whether more do", on.take_one(slot.charge(raised), start).await?.is_allowed(), false)?;
    }
    // A bucket holds what it holds: a larger one is not fuller.
    let (kind, limit) = limits[2];
    let larger = limit.with_quota(Units::new(20));
    on.same("what a larger bucket holds", on.left(&on.slot(kind), larger, start).await?, 0)?;
    on.same("and after a refill", on.left(&on.slot(kind), larger, after(start, 60_000)).await?, 1)
}
