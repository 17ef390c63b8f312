//! Which hop of a list is the client: the walk past trusted proxies, and the count from the right.

use std::net::IpAddr;

use arrayvec::ArrayVec;

use crate::VisitorError;
use crate::network::Networks;

/// The most hops that a list of hops may have. No real route comes near it.
pub const MAX_HOPS: usize = 32;

/// The most bytes that the values of the configured header may have together.
pub const MAX_HEADER_BYTES: usize = 8192;

/// The hops of one request in the order of the header: the left ones may be the client's own words.
pub(crate) type Hops<T> = ArrayVec<T, MAX_HOPS>;

/// How the client's hop is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HopRule {
    /// From the right to the first address that is no trusted proxy.
    Walk(Networks),
    /// The n-th from the right, where n proxies append.
    Count(usize),
}

impl HopRule {
    /// Reads no hop to the left of the client's, so that nothing forged there can matter. `None`: there are no hops.
    pub(crate) fn client<T>(
        &self,
        hops: &[T],
        read: impl Fn(&T) -> Result<IpAddr, VisitorError>,
    ) -> Result<Option<IpAddr>, VisitorError> {
        if hops.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Walk(proxies) => {
                let mut client = None;
                for hop in hops.iter().rev() {
                    let address = read(hop)?;
                    client = Some(address);
                    if !proxies.contains(address) {
                        break;
                    }
                }
                Ok(client)
            }
            Self::Count(hops_back) => {
                let hop =
                    hops.iter().nth_back(hops_back.saturating_sub(1)).ok_or(VisitorError::TooFewHops)?;
                read(hop).map(Some)
            }
        }
    }
}

/// Adds a hop, or says that there are too many.
pub(crate) fn push<T>(hops: &mut Hops<T>, hop: T) -> Result<(), VisitorError> {
    hops.try_push(hop).map_err(|_| VisitorError::TooManyHops)
}
