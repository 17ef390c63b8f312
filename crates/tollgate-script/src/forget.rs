//! Keys to forget, on their way to the script.

use tollgate_core::Limit;
use tollgate_store::{Forget, StoreError};

use crate::{Call, Prefix, Reply, Script, Words, number::inside, reply::garbage};

/// The call that forgets these keys.
///
/// # Errors
/// [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse) as [`Forget::check`].
pub fn forget_call(prefix: &Prefix, forget: &Forget<'_>) -> Result<Call, StoreError> {
    forget.check()?;
    let now = inside(forget.now);
    let mut keys = Words::default();
    for target in forget.targets {
        match target.limit {
            // All that a charge could find, whatever the kind: one may have become the other.
            Limit::FixedWindow { window, .. } | Limit::SlidingWindow { window, .. } => {
                prefix.windows(&target.key, now / window.ms(), -1..=2, &mut keys);
            }
            Limit::TokenBucket { .. } => prefix.bucket(&target.key, &mut keys),
        }
    }
    Ok(Call { script: Script::Forget, keys, args: Words::default() })
}

/// Reads a server's answer to the call of a forgetting.
///
/// # Errors
/// [`StoreErrorKind::Garbage`](tollgate_store::StoreErrorKind::Garbage) if it is not one of the script's.
pub fn forget_answer(reply: &Reply) -> Result<(), StoreError> {
    match reply {
        Reply::Int(0..) => Ok(()),
        _ => Err(garbage("the answer to a forgetting is no count")),
    }
}
