//! Charges that are written in every case or in none, and shadows.

use tollgate_core::{Charging, Decision, Limit, Units, Window};
use tollgate_store::Charge;

use crate::{
    Failure,
    ground::{Answer, Ground},
    setting::after,
};

pub(crate) async fn always_counts_what_is_refused(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    // Five of three weigh in the next window until there is room for one: 5·share ≤ 2·60,000. A bucket owes two and
    // wants one.
    let limits = [
        ("fixed", Limit::fixed(3, Window::MINUTE), end, end),
        ("sliding", Limit::sliding(3, Window::MINUTE), after(end, 30_000), after(end, 36_000)),
        ("bucket", Limit::bucket(3, 1, Window::MINUTE), after(start, 120_000), after(start, 180_000)),
    ];
    for (kind, limit, retry_then, retry_last) in limits {
        let slot = on.slot(kind);
        let charge = Charge { charging: Charging::Always, ..slot.charge(limit) };
        for left in [2, 1, 0] {
            on.expect(kind, charge, start, Answer::allow(left, end)).await?;
        }
        on.expect(kind, charge, start, Answer::deny(-1, end, retry_then)).await?;
        on.expect(kind, charge, start, Answer::deny(-2, end, retry_last)).await?;
        on.same("what is left below zero", on.left(&slot, limit, start).await?, -2)?;
    }
    Ok(())
}

pub(crate) async fn always_is_written_beside_a_refusal(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::DAY);
    let end = after(start, 86_400_000);
    let slots = ["burst", "visitor", "site", "all"].map(|label| on.slot(label));
    let limits = [20, 15, 500, 5_000].map(|quota| Limit::fixed(quota, Window::DAY));
    let charges: Vec<_> = slots
        .iter()
        .zip(limits)
        .map(|(slot, limit)| Charge { charging: Charging::Always, ..slot.charge(limit) })
        .collect();
    for taken in 1..=17_i64 {
        let decisions = on.take(&charges, start).await?;
        on.same("whether the take is admitted", decisions.is_admitted(), taken <= 15)?;
        let left: Vec<_> = decisions.iter().map(Decision::left).collect();
        on.same("what is left of each", left, [20, 15, 500, 5_000].map(|quota| quota - taken).to_vec())?;
    }
    let mixed = on.slot("mixed");
    let decisions = on.take(&[mixed.charge(limits[0]), charges[1]], start).await?;
    on.same("a charge beside one that is refused", Answer::from(&decisions[0]), Answer::allow(20, end))?;
    on.same("what is left of the refused", decisions[1].left(), -3)?;
    on.same("what is left beside it", on.left(&mixed, limits[0], start).await?, 20)
}

pub(crate) async fn never_is_a_peek_that_votes(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let limits = [
        ("fixed", Limit::fixed(5, Window::MINUTE)),
        ("sliding", Limit::sliding(5, Window::MINUTE)),
        ("bucket", Limit::bucket(5, 1, Window::MINUTE)),
    ];
    for (kind, limit) in limits {
        let (slot, beside) = (on.slot(kind), on.slot("beside"));
        for _ in 0..2 {
            on.expect("would five fit", slot.peek(limit, 5), start, Answer::allow(5, end)).await?;
        }
        on.expect("two", slot.cost(limit, 2), start, Answer::allow(3, end)).await?;
        for _ in 0..2 {
            let peek = on.take_one(slot.peek(limit, 4), start).await?;
            on.same("whether four fit three", peek.is_allowed(), false)?;
            on.same("what a refused peek leaves", peek.left(), 3)?;
        }
        let other = Limit::fixed(100, Window::MINUTE);
        let decisions = on.take(&[slot.peek(limit, 4), beside.charge(other)], start).await?;
        on.same("whether a peek refuses a take", decisions.is_admitted(), false)?;
        on.same("what the refused take left", on.left(&beside, other, start).await?, 100)?;
    }
    Ok(())
}

pub(crate) async fn a_shadow_never_refuses(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let end = after(start, 60_000);
    let (real, shadow) = (on.slot("real"), on.slot("shadow"));
    let (wide, narrow) = (Limit::fixed(4, Window::MINUTE), Limit::fixed(2, Window::MINUTE));
    let charges = [real.charge(wide), Charge { enforce: false, ..shadow.charge(narrow) }];

    for (left, of_shadow) in [(3, 1), (2, 0)] {
        let decisions = on.take(&charges, start).await?;
        on.same("the real charge", Answer::from(&decisions[0]), Answer::allow(left, end))?;
        on.same("its shadow", Answer::from(&decisions[1]), Answer::allow(of_shadow, end))?;
    }
    for left in [1, 0] {
        let decisions = on.take(&charges, start).await?;
        on.same("whether a full shadow refuses", decisions.is_admitted(), true)?;
        on.same("the real charge", Answer::from(&decisions[0]), Answer::allow(left, end))?;
        on.same("the full shadow", Answer::from(&decisions[1]), Answer::deny(0, end, end))?;
        on.same("which charges refuse", decisions.refusing().count(), 0)?;
        on.same("which charges vote", [decisions.is_enforced(0), decisions.is_enforced(1)], [true, false])?;
    }
    let decisions = on.take(&charges, start).await?;
    on.same("whether the real limit refuses", decisions.is_admitted(), false)?;
    on.same("which charge refuses", decisions.refusing().map(|(at, _)| at).collect(), vec![0])?;
    on.same("when it would be admitted", decisions.retry_at(), Some(end))
}

pub(crate) async fn a_shadow_is_written_with_its_take(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let (real, shadow) = (on.slot("real"), on.slot("shadow"));
    let limit = Limit::fixed(2, Window::MINUTE);
    let charges = [
        real.charge(limit),
        Charge { enforce: false, cost: Units::new(2), ..shadow.charge(limit.with_quota(Units::new(5))) },
    ];
    let five = charges[1].limit;

    on.spend_all(&charges, start).await?;
    on.same("what a shadow counted", on.left(&shadow, five, start).await?, 3)?;
    on.spend_all(&charges, start).await?;
    on.same("what it counted twice", on.left(&shadow, five, start).await?, 1)?;
    let decisions = on.take(&charges, start).await?;
    on.same("whether the third take is admitted", decisions.is_admitted(), false)?;
    on.same("what a shadow counted of a refused take", on.left(&shadow, five, start).await?, 1)?;

    let always = Charge { charging: Charging::Always, ..charges[1] };
    on.spend_all(&[charges[0], always], start).await?;
    on.same("what a shadow counted that is always charged", on.left(&shadow, five, start).await?, -1)?;

    let alone = on.take(&[Charge { cost: Units::new(9), ..charges[1] }], start).await?;
    on.same("whether a take of a shadow alone is admitted", alone.is_admitted(), true)?;
    on.same("whether the shadow would have been", alone[0].is_allowed(), false)?;
    on.same("what it counted", on.left(&shadow, five, start).await?, -1)
}
