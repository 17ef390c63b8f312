//! Keys that are forgotten, and keys that are not.

use tollgate_core::{Limit, Window};
use tollgate_store::Part;

use crate::{
    Failure,
    ground::{Answer, Ground},
    setting::after,
};

pub(crate) async fn a_forgotten_key_is_new(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let now = after(start, 70_000);
    let end = after(start, 120_000);
    let limits = [
        ("fixed", Limit::fixed(4, Window::MINUTE), end),
        // Spent in both windows: neither weighs any longer.
        ("sliding", Limit::sliding(4, Window::MINUTE), end),
        ("bucket", Limit::bucket(4, 1, Window::HOUR), after(now, 3_600_000)),
    ];
    for (kind, limit, reset_at) in limits {
        let slot = on.slot(kind);
        on.spend(slot.cost(limit, 3), after(start, 50_000)).await?;
        on.spend(slot.cost(limit, 1), now).await?;
        for _ in 0..2 {
            on.forget(&[slot.target(limit)], now).await?;
            on.expect(kind, slot.peek(limit, 4), now, Answer::allow(4, reset_at)).await?;
        }
        on.expect(kind, slot.cost(limit, 4), now, Answer::allow(0, reset_at)).await?;
        on.forget(&[slot.target(limit)], now).await?;
        on.expect(kind, slot.cost(limit, 4), now, Answer::allow(0, reset_at)).await?;
    }
    Ok(())
}

pub(crate) async fn only_the_named_keys_are_forgotten(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(5, Window::MINUTE);
    let labels = ["a", "ab", "b", "a:", "a:b", "*", "?", "[a-b]", "\\*", "%", "%25", "A", " a", ""];
    let slots = labels.map(|label| on.slot(label));
    for slot in &slots {
        on.spend(slot.cost(limit, 2), start).await?;
    }
    // Those that a pattern, a prefix or a careless escape would reach others with.
    for gone in ["*", "?", "[a-b]", "a", "", "%"] {
        let at = labels.iter().position(|label| *label == gone).unwrap_or_default();
        on.forget(&[slots[at].target(limit)], start).await?;
        for (label, slot) in labels.iter().zip(&slots) {
            let left = if *label == gone { 5 } else { 3 };
            on.same(
                &format!("what is left of {label:?} once {gone:?} is forgotten"),
                on.left(slot, limit, start).await?,
                left,
            )?;
        }
        on.spend(slots[at].cost(limit, 2), start).await?;
    }
    Ok(())
}

pub(crate) async fn several_are_forgotten_together(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limits = [
        Limit::fixed(9, Window::MINUTE),
        Limit::sliding(9, Window::MINUTE),
        Limit::bucket(9, 1, Window::MINUTE),
    ];
    let numbers: [u64; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    let slots = numbers.map(|number| on.slot_of(Part::Number(number)));
    let pairs: Vec<_> = slots.iter().zip(limits.into_iter().cycle()).collect();
    for (slot, limit) in &pairs {
        on.spend(slot.cost(*limit, 4), start).await?;
    }
    let targets: Vec<_> = pairs[..8].iter().map(|(slot, limit)| slot.target(*limit)).collect();
    on.forget(&targets, start).await?;
    for (number, (slot, limit)) in numbers.iter().zip(&pairs) {
        let left = if *number < 8 { 9 } else { 5 };
        on.same(&format!("what is left of key {number}"), on.left(slot, *limit, start).await?, left)?;
    }
    on.forget(&[], start).await
}

pub(crate) async fn forgetting_what_nobody_knows_is_no_error(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let (known, unknown, limit) = (on.slot("known"), on.slot("unknown"), Limit::fixed(3, Window::MINUTE));
    on.forget(&[unknown.target(limit)], start).await?;
    on.spend(known.charge(limit), start).await?;
    on.forget(&[unknown.target(limit), known.target(limit)], start).await?;
    on.same("what is left of the known one", on.left(&known, limit, start).await?, 3)
}
