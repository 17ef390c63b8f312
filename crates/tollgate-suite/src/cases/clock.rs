//! Clocks that differ, step back, or stand at an edge.

use tollgate_core::{Limit, Window};
use tollgate_store::StoreErrorKind;

use crate::{
    Failure,
    ground::{Answer, Ground},
    setting::{after, before},
};

pub(crate) async fn a_window_ends_where_the_next_begins(on: &Ground<'_>) -> Result<(), Failure> {
    for (label, window) in [("minute", Window::MINUTE), ("hour", Window::HOUR), ("day", Window::DAY)] {
        let start = on.start(window);
        let (slot, limit) = (on.slot(label), Limit::fixed(1, window));
        let mut end = start;
        for now in [before(start, 1), start] {
            on.expect("the last and the first instant", slot.charge(limit), now, Answer::allow(0, end))
                .await?;
            on.expect("a second unit there", slot.charge(limit), now, Answer::deny(0, end, end)).await?;
            end = after(end, window.ms());
        }
    }
    Ok(())
}

pub(crate) async fn a_clock_behind_is_decided_in_the_newest_window(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    for (kind, limit, retry_at) in [
        ("fixed", Limit::fixed(3, Window::MINUTE), end),
        ("sliding", Limit::sliding(3, Window::MINUTE), after(end, 20_000)),
    ] {
        let slot = on.slot(kind);
        on.expect(kind, slot.charge(limit), after(start, 10), Answer::allow(2, end)).await?;
        on.expect(
            "a millisecond before its start",
            slot.charge(limit),
            before(start, 1),
            Answer::allow(1, end),
        )
        .await?;
        on.expect("a whole window before", slot.charge(limit), before(start, 60_000), Answer::allow(0, end))
            .await?;
        on.expect(
            "once it is full",
            slot.charge(limit),
            before(start, 30_000),
            Answer::deny(0, end, retry_at),
        )
        .await?;
    }

    // Decided at its start: all of what came before weighs.
    let (slot, limit) = (on.slot("weight"), Limit::sliding(10, Window::MINUTE));
    on.expect("eight before", slot.cost(limit, 8), before(start, 1), Answer::allow(2, start)).await?;
    on.expect("four weighing", slot.charge(limit), after(start, 30_000), Answer::allow(5, end)).await?;
    on.expect("eight weighing", slot.peek(limit, 1), before(start, 1), Answer::allow(1, end)).await?;
    Ok(())
}

pub(crate) async fn a_clock_more_than_a_window_behind_is_refused(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::HOUR);
    let now = after(start, 10);
    let behind = before(start, 60_001);
    for (kind, limit) in
        [("fixed", Limit::fixed(3, Window::MINUTE)), ("sliding", Limit::sliding(3, Window::MINUTE))]
    {
        let (slot, beside, bucket) = (on.slot(kind), on.slot("beside"), on.slot("bucket"));
        let (hour, refilled) = (Limit::fixed(9, Window::HOUR), Limit::bucket(9, 1, Window::HOUR));
        on.spend(slot.charge(limit), now).await?;
        let takes = [
            vec![slot.charge(limit)],
            vec![slot.peek(limit, 1)],
            vec![beside.charge(hour), slot.charge(limit), bucket.charge(refilled)],
            vec![slot.charge(limit), bucket.charge(refilled), beside.charge(hour)],
        ];
        for charges in &takes {
            let kind = StoreErrorKind::ClockBehind;
            on.take_error("more than a window behind", charges, behind, kind).await?;
        }
        on.same("what is left of that key", on.left(&slot, limit, now).await?, 2)?;
        on.same("what is left of a window beside it", on.left(&beside, hour, now).await?, 9)?;
        on.same("what is left of a bucket beside it", on.left(&bucket, refilled, now).await?, 9)?;
        let admitted = on.take_one(slot.charge(limit), before(start, 60_000)).await?;
        on.same("what is left one millisecond nearer", admitted.left(), 1)?;
    }
    Ok(())
}

pub(crate) async fn a_clock_that_steps_back_opens_no_window_twice(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    for (kind, limit) in
        [("fixed", Limit::fixed(3, Window::MINUTE)), ("bucket", Limit::bucket(3, 3, Window::MINUTE))]
    {
        let slot = on.slot(kind);
        let mut admitted = 0_u32;
        // Back and forth, five takes at each stop.
        for ms in [58_000, 53_000, 59_999, 55_000] {
            for _ in 0..5 {
                admitted += u32::from(on.take_one(slot.charge(limit), after(start, ms)).await?.is_allowed());
            }
        }
        on.same("how many the first window admits", admitted, 3)?;
        // And over the edge between two windows.
        for ms in [121_000, 116_000, 121_000, 117_000] {
            for _ in 0..5 {
                admitted += u32::from(on.take_one(slot.charge(limit), after(start, ms)).await?.is_allowed());
            }
        }
        on.same("how many the windows admit together", admitted, 6)?;
    }

    // The next window was only looked at: stepping back finds the last one as it was left.
    let (slot, limit) = (on.slot("looked at"), Limit::fixed(3, Window::MINUTE));
    on.spend(slot.cost(limit, 3), after(start, 57_000)).await?;
    on.expect("a look ahead", slot.peek(limit, 1), after(end, 500), Answer::allow(3, after(end, 60_000)))
        .await?;
    on.expect("a step back", slot.charge(limit), after(start, 59_500), Answer::deny(0, end, end)).await?;
    Ok(())
}

pub(crate) async fn a_bucket_keeps_its_refills_when_a_clock_steps_back(
    on: &Ground<'_>,
) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let (slot, limit) = (on.slot("bucket"), Limit::bucket(2, 1, Window::MINUTE));
    on.expect("the first", slot.charge(limit), start, Answer::allow(1, end)).await?;
    on.expect("half a minute back", slot.charge(limit), before(start, 30_000), Answer::allow(0, end)).await?;
    on.expect("just before the refill", slot.charge(limit), before(end, 1), Answer::deny(0, end, end))
        .await?;
    on.expect("at it", slot.charge(limit), end, Answer::allow(0, after(end, 60_000))).await?;
    on.expect(
        "before it again",
        slot.charge(limit),
        before(end, 1),
        Answer::deny(0, after(end, 60_000), after(end, 60_000)),
    )
    .await?;
    Ok(())
}
