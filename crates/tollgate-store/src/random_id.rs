//! Ids that nobody else has.

use std::hash::{BuildHasher, RandomState};

/// 128 random bits: for the id of a settlement, the token of a claim, or what names a request that is sent again.
///
/// All of them come from the system each time and nothing is kept for the next call: a process may be copied while it runs, by a
/// snapshot or a fork, and copies must not go on with the same ids. Where the system has none to give, they come from what the standard
/// library seeds its maps with. They are to be unique, and are no secrets.
///
/// ```
/// use tollgate_store::{SettleId, random_id};
///
/// assert_ne!(SettleId::new(random_id()), SettleId::new(random_id()));
/// ```
#[must_use]
pub fn random_id() -> u128 {
    let half = || u128::from(getrandom::u64().unwrap_or_else(|_| RandomState::new().hash_one(0u8)));
    half() << 64 | half()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Of two copies of one process each draws its own, so no half of an id may stay or count up.
    #[test]
    fn nothing_of_an_id_is_the_processs() {
        let ids = [(); 64].map(|()| random_id());
        let halves = ids.iter().flat_map(|id| [id >> 64, id & u128::from(u64::MAX)]);
        assert_eq!(halves.clone().collect::<BTreeSet<_>>().len(), 128);
        let steps = halves.clone().zip(halves.skip(2)).map(|(one, next)| one.abs_diff(next));
        assert!(steps.min() > Some(1 << 20), "they are drawn, not counted");
    }
}
