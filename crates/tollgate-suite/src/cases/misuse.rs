//! What a caller must not ask for: an error of its own kind, and nothing written.

use tollgate_core::{Limit, Window};
use tollgate_store::{Correction, Forget, Part, Settle, StoreErrorKind, Target};

use crate::{Failure, ground::Ground};

pub(crate) async fn one_key_twice_in_a_take_is_misuse(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let (twice, beside) = (on.slot("7"), on.slot("beside"));
    let number = on.slot_of(Part::Number(7));
    let (limit, other) = (Limit::fixed(5, Window::MINUTE), Limit::sliding(5, Window::MINUTE));
    let takes = [
        [beside.charge(limit), twice.charge(limit), twice.charge(limit)],
        [twice.charge(limit), beside.charge(limit), twice.charge(limit)],
        [twice.charge(limit), number.charge(limit), beside.charge(limit)],
        [twice.charge(limit), twice.charge(other), beside.charge(limit)],
        [twice.peek(limit, 1), beside.charge(limit), twice.charge(limit)],
    ];
    for charges in &takes {
        on.take_error("one key twice", charges, start, StoreErrorKind::Misuse).await?;
        on.same("what is left of that key", on.left(&twice, limit, start).await?, 5)?;
        on.same("what is left of the key beside it", on.left(&beside, limit, start).await?, 5)?;
    }
    Ok(())
}

pub(crate) async fn nine_charges_in_a_take_are_misuse(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(5, Window::MINUTE);
    let numbers: [u64; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    let slots = numbers.map(|number| on.slot_of(Part::Number(number)));
    let charges = slots.each_ref().map(|slot| slot.charge(limit));
    on.take_error("nine charges", &charges, start, StoreErrorKind::Misuse).await?;
    for slot in &slots {
        on.same("what is left of each", on.left(slot, limit, start).await?, 5)?;
    }
    Ok(())
}

pub(crate) async fn a_settlement_is_held_to_the_same_rules(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(5, Window::MINUTE);
    let numbers: [u64; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    let slots = numbers.map(|number| on.slot_of(Part::Number(number)));
    let mut nine = Vec::new();
    for slot in &slots {
        let taken = on.take_one(slot.cost(limit, 3), start).await?;
        nine.push(slot.correct(limit, &taken, -1));
    }
    let twice = [nine[0], nine[1], nine[0]];
    let refused: [(&str, &[Correction<'_>]); 2] = [("one key twice", &twice), ("nine corrections", &nine)];
    for (what, corrections) in refused {
        match on.store.settle(Settle { id: on.id(0), corrections, now: start }).await {
            Ok(()) => return Err(on.differs(what, &(), &StoreErrorKind::Misuse)),
            Err(error) => on.same(what, error.kind(), StoreErrorKind::Misuse)?,
        }
        for slot in &slots {
            on.same("what is left of each", on.left(slot, limit, start).await?, 2)?;
        }
    }
    // A refused settlement was none: its id is still free.
    on.settle(on.id(0), &nine[..1], start).await?;
    on.same("what is left once it was sent well", on.left(&slots[0], limit, start).await?, 3)
}

pub(crate) async fn forgetting_is_held_to_the_same_rules(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(5, Window::MINUTE);
    let numbers: [u64; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    let slots = numbers.map(|number| on.slot_of(Part::Number(number)));
    for slot in &slots {
        on.spend(slot.charge(limit), start).await?;
    }
    let nine = slots.each_ref().map(|slot| slot.target(limit));
    let twice = [nine[0], nine[1], nine[0]];
    let refused: [(&str, &[Target<'_>]); 2] = [("one key twice", &twice), ("nine keys", &nine)];
    for (what, targets) in refused {
        match on.store.forget(Forget { targets, now: start }).await {
            Ok(()) => return Err(on.differs(what, &(), &StoreErrorKind::Misuse)),
            Err(error) => on.same(what, error.kind(), StoreErrorKind::Misuse)?,
        }
        for slot in &slots {
            on.same("what is left of each", on.left(slot, limit, start).await?, 4)?;
        }
    }
    Ok(())
}
