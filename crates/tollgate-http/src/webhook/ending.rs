//! What becomes of a delivery once the service has answered.

/// What becomes of a delivery once the service has answered: put it into the response's extensions where the status does not say it.
///
/// Without it a status of 2xx confirms, and any other releases. A delivery that was [handed over](crate::Received::hand_over) is ended by
/// whoever took it, whatever is said here. With the feature `axum` a handler returns it in front of its response:
/// `(Ending::Release, StatusCode::ACCEPTED)`.
///
/// The enum is exhaustive on purpose: there is nothing else to do with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The work is done: the delivery is a duplicate from now on.
    Confirm,
    /// The work is not done, whatever the status says: the next delivery of this id is processed.
    Release,
    /// Somebody else has the [ticket](crate::Received::ticket) and will confirm or release; until then the delivery is in progress.
    ///
    /// It takes effect only if the answer gets here: a request that is cancelled before releases. Prefer
    /// [`Received::hand_over`](crate::Received::hand_over), which takes effect at once and needs no ending.
    HandOver,
}

#[cfg(feature = "axum")]
impl axum::response::IntoResponseParts for Ending {
    type Error = std::convert::Infallible;

    fn into_response_parts(
        self,
        mut response: axum::response::ResponseParts,
    ) -> Result<axum::response::ResponseParts, Self::Error> {
        response.extensions_mut().insert(self);
        Ok(response)
    }
}
