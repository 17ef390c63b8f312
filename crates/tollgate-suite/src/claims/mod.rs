//! What a store of claims owes: cases, a random history, a reference.

mod case;
mod cases;
mod certify;
mod differential;
mod ground;
mod reference;

pub use case::{ClaimCase, claim_case, claim_cases, run_all_claims};
pub use differential::{CLAIM_STEPS, claims_differential};
pub use reference::ReferenceClaims;
