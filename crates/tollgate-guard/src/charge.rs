//! One policy applied to one key, borrowed and owned.

use std::{fmt, ops::Deref};

use arrayvec::ArrayVec;
use tollgate_core::{Charging, Limit, Units};
use tollgate_store::{Charge, Key, MOST_CHARGES, Name, OwnedName, Part};

use crate::{MOST_PARTS, policy::Terms};

/// One policy applied to one key: what a guard checks.
///
/// Made by [`Policy::charge`](crate::Policy::charge). Borrows its parts and puts no key together.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct PolicyCharge<'a> {
    name: Name<'a>,
    parts: ArrayVec<Part<'a>, MOST_PARTS>,
    limit: Limit,
    cost: Units,
    charging: Charging,
    enforce: bool,
    estimate: bool,
}

impl<'a> PolicyCharge<'a> {
    /// `parts` are at most [`MOST_PARTS`]: policies see to that.
    #[inline]
    pub(crate) fn new(name: Name<'a>, terms: &Terms, parts: &[Part<'a>]) -> Self {
        Self {
            name,
            parts: parts.iter().copied().take(MOST_PARTS).collect(),
            limit: terms.limit,
            cost: terms.cost,
            charging: Charging::IfAllowed,
            enforce: true,
            estimate: false,
        }
    }

    /// The same charge at another cost, in units; one above [`Units::MAX`] counts as that. A cost of 0 only asks.
    pub fn cost(mut self, units: u64) -> Self {
        self.cost = Units::saturating(units);
        self.estimate = false;
        self
    }

    /// The same charge at a cost that is not known yet, estimated in units: what
    /// [`Guard::reserve`](crate::Guard::reserve) takes and a [`Reservation`](crate::Reservation) settles later.
    ///
    /// Give it to `reserve` alone, or to a [peek](crate::Guard::peek), which takes nothing: in a check or a layer nobody would settle
    /// it, and it is a misuse there.
    ///
    /// At least 1 is taken, since what was charged with nothing leaves nothing to correct. One above [`Units::MAX`] counts as that.
    pub fn estimate(mut self, units: u64) -> Self {
        self.cost = Units::saturating(units).max(Units::ONE);
        self.estimate = true;
        self
    }

    /// The same charge under another limit, for this request alone: a rule for a path, a quota a customer has bought.
    ///
    /// Keep to one kind of limit and one window for one key: a count kept in another way is no count.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }

    /// The same charge, written when `charging` says.
    pub fn charging(mut self, charging: Charging) -> Self {
        self.charging = charging;
        self
    }

    /// The same charge as a shadow: decided and counted beside the others, and it never refuses anything.
    pub fn shadow(mut self) -> Self {
        self.enforce = false;
        self
    }

    /// The name of its policy.
    #[must_use]
    pub fn name(&self) -> Name<'a> {
        self.name
    }

    /// The parts of its key.
    #[must_use]
    pub fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// The key it is counted under.
    #[must_use]
    pub fn key(&self) -> Key<'_> {
        Key::new(self.name, &self.parts)
    }

    /// Whether it votes.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        self.enforce
    }

    /// Whether its cost is an estimate, to be settled.
    #[must_use]
    pub fn is_estimate(&self) -> bool {
        self.estimate
    }

    #[inline]
    pub(crate) fn to_store(&self, limit: Limit, charging: Option<Charging>) -> Charge<'_> {
        Charge {
            key: self.key(),
            limit,
            cost: self.cost,
            charging: charging.unwrap_or(self.charging),
            enforce: self.enforce,
        }
    }

    pub(crate) fn own_limit(&self) -> Limit {
        self.limit
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn own_charging(&self) -> Charging {
        self.charging
    }

    /// What a take writes of it.
    #[inline]
    pub(crate) fn written(&self, charging: Option<Charging>, fits: bool, admitted: bool) -> Units {
        if charging.unwrap_or(self.charging).writes(fits, admitted) { self.cost } else { Units::ZERO }
    }
}

/// Without the parts: one of them may be a visitor's address.
impl fmt::Debug for PolicyCharge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyCharge")
            .field("name", &self.name)
            .field("limit", &self.limit)
            .field("cost", &self.cost)
            .field("charging", &self.charging)
            .field("enforce", &self.enforce)
            .field("estimate", &self.estimate)
            .finish_non_exhaustive()
    }
}

/// A charge that owns its parts, for those who must keep it past the request it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedCharge {
    name: OwnedName,
    parts: ArrayVec<OwnedPart, MOST_PARTS>,
    limit: Limit,
    cost: Units,
    charging: Charging,
    enforce: bool,
    estimate: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum OwnedPart {
    Text(Box<str>),
    Number(u64),
}

impl fmt::Debug for OwnedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// Up to eight charges that own their parts.
///
/// ```
/// use tollgate_guard::{Charges, Limit, OnOutage, Policy, Window};
///
/// const ASK: Policy<1> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny);
/// const ASK_ALL: Policy<0> = Policy::new("ask-all", Limit::fixed(5_000, Window::DAY), OnOutage::Deny);
///
/// let charges = Charges::from([ASK.charge("203.0.113.7"), ASK_ALL.charge(())]);
/// assert_eq!(charges.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charges(Vec<OwnedCharge>);

impl Charges {
    /// No charges: a request that nothing limits.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds a charge. A ninth makes every check of these charges a misuse.
    pub fn push(&mut self, charge: &PolicyCharge<'_>) {
        self.0.push(charge.into());
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The charges, borrowed, for a guard to check: at most one more than [`MOST_CHARGES`], which it refuses.
    #[must_use]
    pub fn borrowed(&self) -> impl Deref<Target = [PolicyCharge<'_>]> + fmt::Debug {
        let charges = self.0.iter().take(MOST_CHARGES + 1).map(OwnedCharge::borrowed);
        charges.collect::<ArrayVec<_, { MOST_CHARGES + 1 }>>()
    }
}

impl From<&PolicyCharge<'_>> for OwnedCharge {
    fn from(charge: &PolicyCharge<'_>) -> Self {
        Self {
            name: charge.name.into(),
            parts: charge.parts.iter().map(OwnedPart::from).collect(),
            limit: charge.limit,
            cost: charge.cost,
            charging: charge.charging,
            enforce: charge.enforce,
            estimate: charge.estimate,
        }
    }
}

impl OwnedCharge {
    pub(crate) fn name(&self) -> &str {
        self.name.as_name().as_str()
    }

    pub(crate) fn is_estimate(&self) -> bool {
        self.estimate
    }

    pub(crate) fn borrowed(&self) -> PolicyCharge<'_> {
        PolicyCharge {
            name: self.name.as_name(),
            parts: self.parts.iter().map(OwnedPart::borrowed).collect(),
            limit: self.limit,
            cost: self.cost,
            charging: self.charging,
            enforce: self.enforce,
            estimate: self.estimate,
        }
    }
}

impl From<&Part<'_>> for OwnedPart {
    fn from(part: &Part<'_>) -> Self {
        match *part {
            Part::Number(number) => Self::Number(number),
            Part::Text(text) => Self::Text(text.into()),
        }
    }
}

impl OwnedPart {
    fn borrowed(&self) -> Part<'_> {
        match self {
            Self::Text(text) => Part::Text(text),
            Self::Number(number) => Part::Number(*number),
        }
    }
}

impl<'a, const N: usize> From<[PolicyCharge<'a>; N]> for Charges {
    fn from(charges: [PolicyCharge<'a>; N]) -> Self {
        const { assert!(N <= MOST_CHARGES, "a check has at most 8 charges") };
        charges.into_iter().collect()
    }
}

impl<'a> From<PolicyCharge<'a>> for Charges {
    fn from(charge: PolicyCharge<'a>) -> Self {
        Self::from([charge])
    }
}

impl<'a> FromIterator<PolicyCharge<'a>> for Charges {
    fn from_iter<I: IntoIterator<Item = PolicyCharge<'a>>>(charges: I) -> Self {
        let mut all = Self::none();
        charges.into_iter().for_each(|charge| all.push(&charge));
        all
    }
}
