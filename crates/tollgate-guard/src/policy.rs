//! What is limited, under what name, and what happens when the store is gone.

use std::{fmt, ops::Deref, sync::Arc};

use tollgate_core::{Limit, Units};
use tollgate_store::{KeyParts, Name, NameError, Part};

use crate::{OnOutage, PolicyCharge};

/// The most parts in the key of one policy.
pub const MOST_PARTS: usize = 4;

/// A limit with a name, a number of key parts and a failure mode, as a constant.
///
/// ```
/// use tollgate_guard::{Limit, OnOutage, Policy, Window};
///
/// const ASK: Policy<2> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny);
///
/// let visitor = String::from("203.0.113.7");
/// let charge = ASK.charge(("docs", &visitor));
/// ```
///
/// A part too few does not compile, and neither does a name that is none:
/// ```compile_fail,E0277
/// # use tollgate_guard::{Limit, OnOutage, Policy, Window};
/// const ASK: Policy<2> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny);
/// let charge = ASK.charge("docs");
/// ```
/// ```compile_fail,E0080
/// # use tollgate_guard::{Limit, OnOutage, Policy, Window};
/// const ASK: Policy<0> = Policy::new("Ask us", Limit::fixed(15, Window::DAY), OnOutage::Deny);
/// ```
///
/// The name is the beginning of every key, so a policy that is counted another way needs another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy<const N: usize> {
    name: Name<'static>,
    terms: Terms,
}

/// What a policy says besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) limit: Limit,
    pub(crate) cost: Units,
    pub(crate) on_outage: OnOutage,
    pub(crate) hidden: bool,
    /// In per cent of the quota; 0 for never.
    pub(crate) warn_at: u8,
}

impl Terms {
    const fn new(limit: Limit, on_outage: OnOutage) -> Self {
        Self { limit, cost: Units::ONE, on_outage, hidden: false, warn_at: 0 }
    }

    /// The same, warning at `percent`, or nothing if that is no share of a quota.
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 100")]
    const fn warning_at(mut self, percent: u32) -> Option<Self> {
        if percent == 0 || percent > 100 {
            return None;
        }
        self.warn_at = percent as u8;
        Some(self)
    }
}

impl<const N: usize> Policy<N> {
    const FITS: () = assert!(N <= MOST_PARTS, "a policy has at most 4 key parts");

    /// A policy of this name, with `N` key parts.
    ///
    /// # Panics
    /// If `name` is no [`Name`], or `N` is above [`MOST_PARTS`]: in a constant that is a compile error. For names that arrive at run
    /// time there is [`OwnedPolicy`].
    #[must_use]
    pub const fn new(name: &'static str, limit: Limit, on_outage: OnOutage) -> Self {
        let () = Self::FITS;
        Self { name: Name::new(name), terms: Terms::new(limit, on_outage) }
    }

    /// The same policy, kept out of public headers and bodies: nobody reads off how much of a shared budget is left to drain.
    #[must_use]
    pub const fn hidden(mut self) -> Self {
        self.terms.hidden = true;
        self
    }

    /// The same policy, whose charges cost `units` unless they say otherwise. Without this they cost 1.
    ///
    /// # Panics
    /// If `units` is above [`Units::MAX`]: in a constant that is a compile error.
    #[must_use]
    pub const fn cost(mut self, units: u64) -> Self {
        self.terms.cost = Units::new(units);
        self
    }

    /// The same policy, which warns once so many per cent of its quota are spent, 1 to 100, before it refuses: its decisions then say
    /// [`is_warning`](crate::PolicyDecision::is_warning).
    ///
    /// ```compile_fail,E0080
    /// # use tollgate_guard::{Limit, OnOutage, Policy, Window};
    /// const ASK: Policy<0> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny).warn_at(101);
    /// ```
    ///
    /// # Panics
    /// If it is not within 1 to 100: in a constant that is a compile error. For numbers that arrive at run time there is
    /// [`OwnedPolicy::warn_at`].
    #[must_use]
    pub const fn warn_at(mut self, percent: u32) -> Self {
        match self.terms.warning_at(percent) {
            Some(terms) => self.terms = terms,
            None => panic!("a policy warns at 1 to 100 per cent of its quota"),
        }
        self
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> Name<'static> {
        self.name
    }

    /// Its limit.
    #[must_use]
    pub const fn limit(&self) -> Limit {
        self.terms.limit
    }

    /// What it does when the store is gone.
    #[must_use]
    pub const fn on_outage(&self) -> OnOutage {
        self.terms.on_outage
    }

    /// A charge to the key that these parts make.
    #[inline]
    pub fn charge<'a>(&self, parts: impl KeyParts<'a, N>) -> PolicyCharge<'a> {
        PolicyCharge::new(self.name, &self.terms, &parts.into_parts())
    }
}

/// A policy whose name and number of parts arrive at run time, from a configuration file for instance.
///
/// ```
/// use tollgate_guard::{Limit, OnOutage, OwnedPolicy, Window};
/// use tollgate_store::Part;
///
/// let policy = OwnedPolicy::try_new("uploads", 1, Limit::sliding(30, Window::MINUTE), OnOutage::Allow)?;
/// let charge = policy.charge(&[Part::Text("203.0.113.7")])?;
/// assert!(policy.charge(&[]).is_err());
/// # Ok::<(), tollgate_guard::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedPolicy {
    name: Arc<str>,
    parts: usize,
    terms: Terms,
}

impl OwnedPolicy {
    /// A policy of this name, with so many key parts.
    ///
    /// # Errors
    /// Only if `name` is no [`Name`], or `parts` is above [`MOST_PARTS`].
    pub fn try_new(
        name: impl Into<Arc<str>>,
        parts: usize,
        limit: Limit,
        on_outage: OnOutage,
    ) -> Result<Self, PolicyError> {
        let name = name.into();
        Name::try_new(&name).map_err(PolicyError::Name)?;
        if parts > MOST_PARTS {
            return Err(PolicyError::TooManyParts { parts });
        }
        Ok(Self { name, parts, terms: Terms::new(limit, on_outage) })
    }

    /// The same policy, kept out of public headers and bodies.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.terms.hidden = true;
        self
    }

    /// The same policy, whose charges cost `units` unless they say otherwise.
    #[must_use]
    pub fn cost(mut self, units: Units) -> Self {
        self.terms.cost = units;
        self
    }

    /// The same policy, which warns once so many per cent of its quota are spent.
    ///
    /// # Errors
    /// Only if it is not within 1 to 100.
    pub fn warn_at(mut self, percent: u32) -> Result<Self, PolicyError> {
        self.terms = self.terms.warning_at(percent).ok_or(PolicyError::WarnAt { percent })?;
        Ok(self)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many parts its keys have.
    #[must_use]
    pub const fn parts(&self) -> usize {
        self.parts
    }

    /// Its limit.
    #[must_use]
    pub const fn limit(&self) -> Limit {
        self.terms.limit
    }

    /// What it does when the store is gone.
    #[must_use]
    pub const fn on_outage(&self) -> OnOutage {
        self.terms.on_outage
    }

    /// A charge to the key that these parts make.
    ///
    /// # Errors
    /// Only [`PolicyError::WrongParts`], if they are not as many as the policy has.
    pub fn charge<'a>(&'a self, parts: &[Part<'a>]) -> Result<PolicyCharge<'a>, PolicyError> {
        if parts.len() != self.parts {
            return Err(PolicyError::WrongParts { needed: self.parts, given: parts.len() });
        }
        let name = Name::try_new(&self.name).map_err(PolicyError::Name)?;
        Ok(PolicyCharge::new(name, &self.terms, parts))
    }
}

impl<const N: usize> From<Policy<N>> for OwnedPolicy {
    fn from(policy: Policy<N>) -> Self {
        Self { name: policy.name.as_str().into(), parts: N, terms: policy.terms }
    }
}

/// A policy of either kind, as a guard knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyPolicy {
    pub(crate) name: PolicyName,
    pub(crate) parts: usize,
    pub(crate) terms: Terms,
}

impl<const N: usize> From<Policy<N>> for AnyPolicy {
    fn from(policy: Policy<N>) -> Self {
        Self { name: PolicyName(Text::Static(policy.name.as_str())), parts: N, terms: policy.terms }
    }
}

impl From<&OwnedPolicy> for AnyPolicy {
    fn from(policy: &OwnedPolicy) -> Self {
        Self {
            name: PolicyName(Text::Shared(Arc::clone(&policy.name))),
            parts: policy.parts,
            terms: policy.terms,
        }
    }
}

impl From<OwnedPolicy> for AnyPolicy {
    fn from(policy: OwnedPolicy) -> Self {
        Self::from(&policy)
    }
}

/// The name of a policy, owned by whoever holds it and cheap to clone.
#[derive(Clone)]
pub struct PolicyName(Text);

#[derive(Clone)]
enum Text {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Deref for PolicyName {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            Text::Static(name) => name,
            Text::Shared(name) => name,
        }
    }
}

impl PartialEq for PolicyName {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for PolicyName {}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A policy that cannot be, or is charged with the wrong parts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// Its name is none.
    Name(NameError),
    /// Its keys would have more parts than any policy may.
    TooManyParts {
        /// How many were asked for.
        parts: usize,
    },
    /// It is charged with more or fewer parts than it has.
    WrongParts {
        /// How many it has.
        needed: usize,
        /// How many were given.
        given: usize,
    },
    /// It would warn at nothing, or at more than its whole quota.
    WarnAt {
        /// The per cent that were asked for.
        percent: u32,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(_) => f.write_str("the name of a policy is not allowed"),
            Self::TooManyParts { parts } => {
                write!(f, "a policy with {parts} key parts: use at most {MOST_PARTS}")
            }
            Self::WrongParts { needed, given } => {
                write!(f, "{given} key parts for a policy that has {needed}")
            }
            Self::WarnAt { percent } => {
                write!(f, "a warning at {percent} per cent of a quota: use 1 to 100")
            }
        }
    }
}

impl std::error::Error for PolicyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Name(error) => Some(error),
            Self::TooManyParts { .. } | Self::WrongParts { .. } | Self::WarnAt { .. } => None,
        }
    }
}
