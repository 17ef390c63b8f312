//! Claims that are made, held, lost, confirmed and released.

use futures_util::future::join_all;
use tollgate_core::{Timestamp, Window};
use tollgate_store::{Claim, ClaimKey, ClaimToken, Claimed, Confirm, Hold, Key, Name, Part};

use super::ground::{Ground, LEASE, RETENTION, ours, running};
use crate::{Failure, ground::NAME};

/// A minute, in ms: something happens meanwhile.
const LATER: u64 = 60_000;

pub(crate) async fn a_claim_is_held_by_one(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    on.claim("a claim by another", slot.key(), on.token(2), start, running(start)).await?;
    on.claim("another, later", slot.key(), on.token(2), on.at(LATER), running(start)).await?;
    on.claim_ours(on.slot("other").key(), on.token(2), start).await
}

pub(crate) async fn a_claim_sent_again_is_still_ours(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    for ms in [0, 0, LATER, LEASE.ms() - 1] {
        on.claim("the claim", slot.key(), on.token(1), on.at(ms), ours(start)).await?;
    }
    let ended = on.at(LEASE.ms());
    on.claim("another's, once it has ended", slot.key(), on.token(2), ended, ours(ended)).await
}

pub(crate) async fn a_lease_ends(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    let last = on.at(LEASE.ms() - 1);
    on.claim("at the last instant", slot.key(), on.token(2), last, running(start)).await?;
    let ended = on.at(LEASE.ms());
    on.claim("when it has ended", slot.key(), on.token(2), ended, ours(ended)).await?;
    on.claim("who was first", slot.key(), on.token(1), ended, running(ended)).await
}

pub(crate) async fn what_is_done_is_not_claimed(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    let confirmed = on.at(LATER);
    on.confirm("the confirmation", slot.key(), on.token(1), confirmed, Hold::Ours).await?;
    let ends = LATER + RETENTION.ms();
    for ms in [LATER, LEASE.ms(), ends - 1] {
        for number in [1, 2] {
            on.claim("what is done", slot.key(), on.token(number), on.at(ms), Claimed::Done).await?;
        }
    }
    on.claim("what was done long ago", slot.key(), on.token(2), on.at(ends), ours(on.at(ends))).await
}

pub(crate) async fn what_is_released_is_free(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    on.release(slot.key(), on.token(1)).await?;
    on.claim_ours(slot.key(), on.token(2), on.at(1)).await?;
    // Sent again, it is somebody else's by now.
    on.release(slot.key(), on.token(1)).await?;
    on.claim("what was claimed since", slot.key(), on.token(3), on.at(1), running(on.at(1))).await?;
    on.release(on.slot("unknown").key(), on.token(1)).await
}

pub(crate) async fn only_the_holder_confirms(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.confirm("of what nobody claimed", slot.key(), on.token(2), start, Hold::Lost).await?;
    on.claim_ours(slot.key(), on.token(1), start).await?;
    on.confirm("by another", slot.key(), on.token(2), start, Hold::Lost).await?;
    on.claim("what another confirmed", slot.key(), on.token(3), start, running(start)).await?;
    // A token next to it is another.
    let bits = on.token(1).bits();
    for other in [bits ^ 1, bits ^ (1 << 64), bits ^ (1 << 127)] {
        on.confirm("by its neighbour", slot.key(), ClaimToken::new(other), start, Hold::Lost).await?;
    }
    on.confirm("by the holder", slot.key(), on.token(1), start, Hold::Ours).await?;
    on.confirm("by another, when done", slot.key(), on.token(2), start, Hold::Lost).await
}

pub(crate) async fn only_the_holder_releases(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    on.release(slot.key(), on.token(2)).await?;
    on.claim("what another released", slot.key(), on.token(2), start, running(start)).await
}

pub(crate) async fn what_is_done_is_not_released(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    on.confirm("the confirmation", slot.key(), on.token(1), start, Hold::Ours).await?;
    on.release(slot.key(), on.token(1)).await?;
    on.claim("what is done", slot.key(), on.token(2), start, Claimed::Done).await
}

pub(crate) async fn a_confirmation_sent_again_changes_nothing(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start) = (on.slot("one"), on.at(0));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    for ms in [0, 0, LATER, LEASE.ms() + LATER] {
        on.confirm("the confirmation", slot.key(), on.token(1), on.at(ms), Hold::Ours).await?;
    }
    let ends = on.at(RETENTION.ms());
    on.claim("what was done long ago", slot.key(), on.token(2), ends, ours(ends)).await
}

pub(crate) async fn a_late_confirmation_says_so(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, taken) = (on.slot("nobody"), on.slot("taken"));
    let (start, ended) = (on.at(0), on.at(LEASE.ms()));
    for key in [slot.key(), taken.key()] {
        on.claim_ours(key, on.token(1), start).await?;
    }
    on.confirm("when nobody else has it", slot.key(), on.token(1), ended, Hold::Lost).await?;
    on.claim("what was not confirmed", slot.key(), on.token(2), ended, ours(ended)).await?;
    on.claim_ours(taken.key(), on.token(2), ended).await?;
    on.confirm("when another has it", taken.key(), on.token(1), ended, Hold::Lost).await?;
    on.claim("what another works on", taken.key(), on.token(3), ended, running(ended)).await?;
    on.release(taken.key(), on.token(1)).await?;
    on.claim("what another works on", taken.key(), on.token(3), ended, running(ended)).await?;
    on.confirm("by who works on it", taken.key(), on.token(2), ended, Hold::Ours).await?;
    on.confirm("when another has done it", taken.key(), on.token(1), ended, Hold::Lost).await
}

pub(crate) async fn a_lease_is_renewed_by_its_holder(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start, later) = (on.slot("one"), on.at(0), on.at(LATER));
    on.renew("of what nobody claimed", slot.key(), on.token(1), start, Hold::Lost).await?;
    on.claim_ours(slot.key(), on.token(1), start).await?;
    on.renew("by another", slot.key(), on.token(2), later, Hold::Lost).await?;
    on.claim("what another renewed", slot.key(), on.token(2), later, running(start)).await?;
    on.renew("by the holder", slot.key(), on.token(1), later, Hold::Ours).await?;
    let last = on.at(LATER + LEASE.ms() - 1);
    on.claim("at the last instant", slot.key(), on.token(2), last, running(later)).await?;
    on.confirm("within the new lease", slot.key(), on.token(1), last, Hold::Ours).await?;
    on.renew("of what is done", slot.key(), on.token(1), last, Hold::Lost).await?;
    on.claim("what is done", slot.key(), on.token(2), last, Claimed::Done).await
}

pub(crate) async fn a_lease_that_ended_is_not_renewed(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, start, ended) = (on.slot("one"), on.at(0), on.at(LEASE.ms()));
    on.claim_ours(slot.key(), on.token(1), start).await?;
    on.renew("when nobody else has it", slot.key(), on.token(1), ended, Hold::Lost).await?;
    on.claim_ours(slot.key(), on.token(2), ended).await?;
    on.renew("when another has it", slot.key(), on.token(1), ended, Hold::Lost).await?;
    on.claim("what another works on", slot.key(), on.token(3), ended, running(ended)).await
}

pub(crate) async fn no_two_keys_share_a_claim(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.at(0);
    let long = "x".repeat(300);
    let pairs = [
        ["", ""],
        ["a", "b"],
        ["a:b", ""],
        ["", "a:b"],
        ["a:", "b"],
        ["a", ":b"],
        ["a%3Ab", ""],
        ["A", "b"],
        ["a ", "b"],
        ["a\0", "b"],
        ["17", "a"],
        ["1", "7a"],
        [&long, "b"],
        [&long[1..], "xb"],
    ];
    let owners: Vec<_> = (0..).zip(pairs).collect();
    for (number, [hook, id]) in &owners {
        let parts = [Part::Number(on.setting.run), Part::Text(on.case), Part::Text(hook), Part::Text(id)];
        on.claim_ours(Key::new(NAME, &parts).into(), on.token(*number), start).await?;
        let other = Key::new(Name::new("suite-b"), &parts);
        on.claim_ours(other.into(), on.token(100 + number), start).await?;
        // The same text as a literal is another key.
        let text = Key::new(NAME, &parts).to_string();
        on.claim_ours(ClaimKey::Literal(&text), on.token(200 + number), start).await?;
    }
    for (number, [hook, id]) in &owners {
        let parts = [Part::Number(on.setting.run), Part::Text(on.case), Part::Text(hook), Part::Text(id)];
        let key = Key::new(NAME, &parts).into();
        on.confirm("of each", key, on.token(*number), start, Hold::Ours).await?;
    }
    Ok(())
}

pub(crate) async fn a_literal_key_is_claimed_as_any_other(on: &Ground<'_>) -> Result<(), Failure> {
    let (one, other, start) = (on.literal("one"), on.literal("other"), on.at(0));
    let key = ClaimKey::Literal(&one);
    on.claim_ours(key, on.token(1), start).await?;
    on.claim("by another", key, on.token(2), start, running(start)).await?;
    on.claim_ours(ClaimKey::Literal(&other), on.token(2), start).await?;
    on.release(key, on.token(1)).await?;
    on.claim_ours(key, on.token(2), start).await?;
    on.confirm("by the holder", key, on.token(2), start, Hold::Ours).await?;
    on.claim("what is done", key, on.token(1), start, Claimed::Done).await?;
    on.release(ClaimKey::Literal(&other), on.token(2)).await
}

pub(crate) async fn the_longest_times_overflow_nothing(on: &Ground<'_>) -> Result<(), Failure> {
    let (slot, token) = (on.slot("one"), on.token(1));
    let claim = Claim { key: slot.key(), token, lease: Window::MAX, now: on.at(0) };
    let claimed = on.claims.claim(claim).await.map_err(|error| on.unexpected("claim", &error))?;
    on.same("the longest claim", claimed, Claimed::Ours { until: claim.until() })?;
    let last = Timestamp::from_unix_ms(claim.until().unix_ms() - 1);
    let held = Claimed::Running { until: claim.until() };
    on.claim("at its last instant", slot.key(), on.token(2), last, held).await?;
    on.release(slot.key(), token).await?;
    // At the end of time everything ends at once, and a server may have dropped it before the next call.
    let late = Claim { now: Timestamp::MAX, ..claim };
    let claimed = on.claims.claim(late).await.map_err(|error| on.unexpected("claim", &error))?;
    on.same("a claim at the end of time", claimed, Claimed::Ours { until: Timestamp::MAX })?;
    let confirm = Confirm { key: slot.key(), token, retention: Window::MAX, now: Timestamp::MAX };
    on.claims.confirm(confirm).await.map(|_| ()).map_err(|error| on.unexpected("confirm", &error))
}

pub(crate) async fn a_race_is_won_by_one(on: &Ground<'_>) -> Result<(), Failure> {
    for round in ["a", "b", "c"] {
        let (slot, start) = (on.slot(round), on.at(0));
        let claims = (0..32).map(|number| on.try_claim(slot.key(), on.token(number), start));
        let mut won = Vec::new();
        for (number, claimed) in (0..).zip(join_all(claims).await) {
            match claimed.map_err(|error| on.unexpected("claim", &error))? {
                Claimed::Ours { .. } => won.push(number),
                claimed => on.same("the answer to who came late", claimed, running(start))?,
            }
        }
        on.same("how many hold one claim", won.len(), 1)?;
        on.confirm("by the winner", slot.key(), on.token(won[0]), start, Hold::Ours).await?;
    }
    Ok(())
}
