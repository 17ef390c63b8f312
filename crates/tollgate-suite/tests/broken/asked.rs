//! Faults of what is asked: other charges, another time.

use tollgate_core::{Charging, State, Timestamp, Units};
use tollgate_store::{Charge, Take};

use super::{Fault, Kept, keys};

pub(super) fn charges<'a>(fault: Option<Fault>, kept: &mut Kept, take: &Take<'a>) -> Vec<Charge<'a>> {
    let mut charges: Vec<_> = take.charges.iter().map(|charge| changed(fault, kept, charge)).collect();
    match fault {
        Some(Fault::OrderIsReversed) => charges.reverse(),
        Some(Fault::TwiceIsAccepted) => {
            let mut apart: Vec<Charge<'a>> = Vec::new();
            for charge in charges {
                if apart.iter().all(|earlier| earlier.key != charge.key) {
                    apart.push(charge);
                }
            }
            return apart;
        }
        Some(Fault::NineAreAccepted) => charges.truncate(8),
        _ => {}
    }
    charges
}

fn changed<'a>(fault: Option<Fault>, kept: &mut Kept, charge: &Charge<'a>) -> Charge<'a> {
    let mut charge = *charge;
    let quota = charge.limit.quota();
    match fault {
        Some(Fault::CostIsAlwaysOne) if charge.cost > Units::ONE => charge.cost = Units::ONE,
        Some(Fault::CostOfZeroIsOne) if charge.cost == Units::ZERO => charge.cost = Units::ONE,
        Some(Fault::CostIsCutToTheQuota) => charge.cost = charge.cost.min(quota),
        Some(Fault::ClosedIsUnlimited) if quota == Units::ZERO => {
            charge.limit = charge.limit.with_quota(Units::MAX);
        }
        Some(Fault::FirstQuotaStays) => {
            let name = keys::name(fault, &charge.key);
            charge.limit = *kept.first_limits.entry(name).or_insert(charge.limit);
        }
        Some(Fault::AlwaysIsIfAllowed) if charge.charging == Charging::Always => {
            charge.charging = Charging::IfAllowed;
        }
        Some(Fault::NeverIsIfAllowed) if charge.charging == Charging::Never => {
            charge.charging = Charging::IfAllowed;
        }
        Some(Fault::NeverHasNoVote) if charge.charging == Charging::Never => charge.enforce = false,
        Some(Fault::ShadowsVote) => charge.enforce = true,
        Some(Fault::ShadowsAreNotKept) if !charge.enforce => charge.charging = Charging::Never,
        _ => {}
    }
    charge
}

pub(super) fn now(
    fault: Option<Fault>,
    now: Timestamp,
    charges: &[Charge<'_>],
    found: &[Option<State>],
) -> Timestamp {
    match fault {
        Some(Fault::ClockIsInSeconds) => Timestamp::from_unix_ms(now.unix_ms() / 1_000 * 1_000),
        Some(Fault::ClockIsLate) => now.saturating_add_ms(1),
        Some(Fault::BehindIsAccepted) => {
            let mut now = now;
            for (charge, state) in charges.iter().zip(found) {
                if let Some(State::Window { start, .. }) = state
                    && charge.limit.check_clock(state.as_ref(), now).is_err()
                {
                    now = now.max(*start);
                }
            }
            now
        }
        _ => now,
    }
}
