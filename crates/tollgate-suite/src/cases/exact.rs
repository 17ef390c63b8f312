//! The points where arithmetic that is almost right goes wrong.
//!
//! Random histories hardly ever meet them. What is owed comes from the rule itself, in integers wide enough for any
//! product: a charge fits if `before·(W−x) + (used+cost)·W ≤ quota·W`.

use tollgate_core::{Charging, Limit, Timestamp, Units, Window};
use tollgate_store::Charge;

use crate::{
    Failure,
    ground::{Answer, Ground, Slot},
    setting::{after, before},
};

/// A sliding window whose previous count is known, and what it admits by the rule.
struct Rule {
    quota: u64,
    window: u64,
    before: u64,
    used: u64,
}

impl Rule {
    fn fits(&self, cost: u64, offset: u64) -> bool {
        let weight = u128::from(self.before) * u128::from(self.window - offset);
        let spent = (u128::from(self.used) + u128::from(cost)) * u128::from(self.window);
        weight + spent <= u128::from(self.quota) * u128::from(self.window)
    }

    /// The most that fits there, if anything does: by halving, so that no rounding is involved.
    fn free(&self, offset: u64) -> Option<u64> {
        let (mut fits, mut refused) = (0, self.quota + 1);
        if !self.fits(fits, offset) {
            return None;
        }
        while refused - fits > 1 {
            let middle = fits + (refused - fits) / 2;
            if self.fits(middle, offset) {
                fits = middle;
            } else {
                refused = middle;
            }
        }
        Some(fits)
    }
}

/// Holds a key against the rule at one point: the most that fits does, one unit more does not, and fits exactly when
/// it is said to.
async fn probe(
    on: &Ground<'_>,
    slot: &Slot<'_>,
    rule: &Rule,
    start: Timestamp,
    offset: u64,
) -> Result<(), Failure> {
    let limit = Limit::SlidingWindow {
        quota: Units::saturating(rule.quota),
        window: Window::try_from_ms(rule.window).unwrap_or(Window::MAX),
    };
    let end = after(start, rule.window);
    let now = after(start, offset);
    let point = format!("{} of {} before, {offset} ms into {} ms", rule.before, rule.quota, rule.window);
    let Some(free) = rule.free(offset) else {
        let refused = on.take_one(slot.peek(limit, 0), now).await?;
        return on.same(&format!("whether anything fits: {point}"), refused.is_allowed(), false);
    };
    let left = i64::try_from(free).unwrap_or(i64::MAX);
    on.expect(&format!("the most that fits: {point}"), slot.peek(limit, free), now, Answer::allow(left, end))
        .await?;
    if free == rule.quota {
        return Ok(());
    }
    let over = slot.peek(limit, free + 1);
    let refused = on.take_one(over, now).await?;
    on.same(&format!("whether one more fits: {point}"), refused.is_allowed(), false)?;
    let Some(retry_at) = refused.retry_at() else {
        return Err(on.failure(&format!("when one more fits: the store says never: {point}")));
    };
    let fits = on.take_one(over, retry_at).await?.is_allowed();
    on.same(&format!("whether it fits when it should: {point}"), fits, true)?;
    let fits = on.take_one(over, before(retry_at, 1)).await?.is_allowed();
    on.same(&format!("whether it fits a millisecond earlier: {point}"), fits, false)
}

/// Spends `before` in one window, then `used` in the next at its end, and probes that one.
async fn probe_all(
    on: &Ground<'_>,
    label: &'static str,
    rule: &Rule,
    offsets: &[u64],
) -> Result<(), Failure> {
    let window = Window::try_from_ms(rule.window).unwrap_or(Window::MAX);
    let limit = Limit::SlidingWindow { quota: Units::saturating(rule.quota), window };
    let slot = on.slot(label);
    let start = on.start(window);
    let always = |cost| Charge { charging: Charging::Always, ..slot.cost(limit, cost) };
    on.spend(always(rule.before), before(start, 1)).await?;
    on.spend(always(rule.used), start).await?;
    for offset in offsets {
        probe(on, &slot, rule, start, *offset).await?;
    }
    on.forget(&[slot.target(limit)], start).await
}

/// The offsets at which `before·(W−x)` is `near` whole multiples of W.
fn offsets_near_whole(before: u64, window: u64, near: i64) -> Vec<u64> {
    let wanted = near.rem_euclid(i64::try_from(window).unwrap_or(i64::MAX)).unsigned_abs();
    (0..window).filter(|offset| before * (window - offset) % window == wanted).collect()
}

pub(crate) async fn a_weight_that_is_whole_is_not_rounded(on: &Ground<'_>) -> Result<(), Failure> {
    // Every hundredth of a window: in binary fractions most of them are not what they seem (100 · 0.07 > 7).
    let rule = Rule { quota: 150, window: 100_000, before: 100, used: 0 };
    probe_all(on, "hundredths", &rule, &offsets_near_whole(100, 100_000, 0)).await?;
    let rule = Rule { quota: 60, window: 60_000, before: 60, used: 7 };
    probe_all(on, "seconds", &rule, &offsets_near_whole(60, 60_000, 0)).await
}

pub(crate) async fn a_weight_next_to_whole_is_rounded_up(on: &Ground<'_>) -> Result<(), Failure> {
    for (label, count) in [("3", 3), ("7", 7), ("49", 49), ("99", 99), ("101", 101), ("997", 997)] {
        for near in [-1, 1] {
            let rule = Rule { quota: count + 10, window: 60_000, before: count, used: 2 };
            let window = if count % 3 == 0 { 100_000 } else { 60_000 };
            let rule = Rule { window, ..rule };
            probe_all(on, label, &rule, &offsets_near_whole(count, window, near)).await?;
        }
    }
    Ok(())
}

pub(crate) async fn large_amounts_lose_nothing(on: &Ground<'_>) -> Result<(), Failure> {
    let most = Units::MAX.get();
    let longest = Window::MAX.ms();
    let windows = [("minute", 60_000), ("day", 86_400_000), ("longest", longest), ("odd", longest - 1)];
    for (label, window) in windows {
        let third = window / 3;
        let offsets = [0, 1, 2, 999, third, third + 1, window / 2, window - third, window - 2, window - 1];
        for before in [most, most - 1, most / 2 + 1, 1 << 52, (1 << 40) + 1, 3] {
            let rule = Rule { quota: most, window, before, used: 0 };
            probe_all(on, label, &rule, &offsets).await?;
        }
        let rule = Rule { quota: most, window, before: most - 5, used: most / 2 };
        probe_all(on, label, &rule, &offsets).await?;
    }
    Ok(())
}

pub(crate) async fn counts_stop_at_the_largest_number(on: &Ground<'_>) -> Result<(), Failure> {
    let most = Units::MAX.get();
    let left = |quota: u64, used: u64| {
        i64::try_from(quota).unwrap_or(i64::MAX) - i64::try_from(used).unwrap_or(i64::MAX)
    };
    let start = on.start(Window::DAY);
    let limits =
        [("fixed", Limit::fixed(most - 1, Window::DAY)), ("sliding", Limit::sliding(most - 1, Window::DAY))];
    for (kind, limit) in limits {
        let slot = on.slot(kind);
        let always = Charge { charging: Charging::Always, ..slot.cost(limit, most) };
        for _ in 0..3 {
            on.same("what is left below the largest count", on.take_one(always, start).await?.left(), -1)?;
        }
        let counted = on.take_one(slot.peek(limit, 1), start).await?;
        on.same("what is counted", counted.used(), Units::MAX)?;
    }
    let (slot, limit) = (on.slot("bucket"), Limit::bucket(most, 1, Window::MINUTE));
    let always = Charge { charging: Charging::Always, ..slot.cost(limit, most) };
    for owed in [0, most, most] {
        on.same("what is left in the deepest debt", on.take_one(always, start).await?.left(), left(0, owed))?;
    }
    let refilled = on.left(&slot, limit, after(start, 60_000)).await?;
    on.same("and after a refill", refilled, left(1, most))?;
    on.forget(&[slot.target(limit)], start).await
}

pub(crate) async fn a_refusal_fits_at_its_retry_and_not_before(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::HOUR);
    let limits = [
        ("fixed", Limit::fixed(7, Window::HOUR), 3_600_000),
        // Where seven of an hour weigh six.
        ("sliding", Limit::sliding(7, Window::HOUR), 3_600_000 + 514_286),
        ("bucket", Limit::bucket(7, 2, Window::from_ms(59_999)), 1_234 + 59_999),
        ("one by one", Limit::bucket(7, 1, Window::from_ms(60_001)), 1_234 + 60_001),
    ];
    for (kind, limit, first_after) in limits {
        let slot = on.slot(kind);
        on.spend(slot.cost(limit, 4), after(start, 1_234)).await?;
        on.spend(slot.cost(limit, 3), after(start, 3_456)).await?;
        let mut now = after(start, 4_567);
        let first = on.take_one(slot.peek(limit, 1), now).await?.retry_at();
        on.same(&format!("{kind}: when the first one fits"), first, Some(after(start, first_after)))?;
        for cost in [1, 3, 7, 2, 5, 7] {
            let charge = slot.cost(limit, cost);
            let refused = on.take_one(charge, now).await?;
            let Some(retry_at) = refused.retry_at().filter(|retry_at| *retry_at > now) else {
                return Err(on.differs(
                    &format!("{kind}: when {cost} fits"),
                    &refused.verdict(),
                    &"a time to come",
                ));
            };
            let early = on.take_one(charge, before(retry_at, 1)).await?;
            on.same(&format!("{kind}: whether {cost} fits a millisecond early"), early.is_allowed(), false)?;
            on.same(&format!("{kind}: when {cost} fits, as said then"), early.retry_at(), Some(retry_at))?;
            let admitted = on.take_one(charge, retry_at).await?;
            on.same(&format!("{kind}: whether {cost} fits in time"), admitted.is_allowed(), true)?;
            // Spend what is left, so that the next one is refused.
            now = retry_at;
            on.spend(slot.cost(limit, admitted.remaining()), now).await?;
        }
    }
    Ok(())
}
