//! A claim on its way to another process.

use std::{error::Error, fmt, str::FromStr};

use tollgate_store::ClaimToken;

use crate::{DeliveryId, deliveries::is_scope};

/// A claim in a form that can be queued: whoever takes it over confirms or releases it.
///
/// As text it is one line. It holds the claim's token, so keep it where only your own workers read.
///
/// ```
/// # use std::sync::Arc;
/// # use tollgate_core::Timestamp;
/// # use tollgate_memory::MemoryStore;
/// use tollgate_webhook::{Begin, Deliveries, DeliveryId, DeliveryTicket, OnClaimOutage};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let clock = || Timestamp::from_unix_ms(1_764_547_200_000);
/// # let deliveries = Deliveries::builder("github", MemoryStore::new(), OnClaimOutage::Unavailable, clock).build()?;
/// # let id = DeliveryId::try_new("72d3162e")?;
/// let Begin::First(delivery) = deliveries.begin("17", &id).await else { panic!("it is new") };
/// let queued = delivery.hand_over().to_string();
///
/// // In the worker:
/// let ticket: DeliveryTicket = queued.parse()?;
/// let delivery = deliveries.take_over(ticket);
/// // … the work …
/// delivery.confirm().await?;
/// assert!(matches!(deliveries.begin("17", &id).await, Begin::Duplicate));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DeliveryTicket {
    pub(crate) scope: Box<str>,
    pub(crate) id: DeliveryId,
    pub(crate) token: ClaimToken,
    pub(crate) is_claimed: bool,
}

/// Comes after the token of what is yet to be claimed.
const UNCLAIMED: char = '?';

impl DeliveryTicket {
    /// The hook or project it is for.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// The delivery's id.
    #[must_use]
    pub const fn id(&self) -> &DeliveryId {
        &self.id
    }

    /// Whether it was known to be the first when it arrived: not if the store could not tell and it is processed anyway. To renew or
    /// to confirm claims it then.
    #[must_use]
    pub const fn is_claimed(&self) -> bool {
        self.is_claimed
    }
}

impl fmt::Display for DeliveryTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.token.bits())?;
        if !self.is_claimed {
            write!(f, "{UNCLAIMED}")?;
        }
        write!(f, " {} {}", self.id, self.scope)
    }
}

impl FromStr for DeliveryTicket {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        let (token, rest) = text.split_once(' ').ok_or(TicketError(()))?;
        let (id, scope) = rest.split_once(' ').ok_or(TicketError(()))?;
        if !is_scope(scope) {
            return Err(TicketError(()));
        }
        let (token, is_claimed) = match token.strip_suffix(UNCLAIMED) {
            Some(token) => (token, false),
            None => (token, true),
        };
        let is_hex = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = u128::from_str_radix(token, 16).ok().filter(|_| is_hex).ok_or(TicketError(()))?;
        let id = DeliveryId::try_new(id).map_err(|_| TicketError(()))?;
        Ok(Self { scope: scope.into(), id, token: ClaimToken::new(bits), is_claimed })
    }
}

/// Without the token.
impl fmt::Debug for DeliveryTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryTicket")
            .field("scope", &self.scope)
            .field("id", &self.id)
            .field("is_claimed", &self.is_claimed)
            .finish_non_exhaustive()
    }
}

/// A text that is no ticket. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketError(());

impl fmt::Display for TicketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no ticket of a delivery: pass on the text of one as it is")
    }
}

impl Error for TicketError {}
