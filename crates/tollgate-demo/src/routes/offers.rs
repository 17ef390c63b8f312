//! What this server lets a client do beyond the limits' own routes, so that a page shows no button that leads nowhere.

use serde::Serialize;

use crate::{App, visiting::Visiting};

/// What is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Offers {
    /// `PUT /api/store` switches the store off and on.
    fault_switch: bool,
    /// `POST /api/webhook-replays` delivers one webhook twice.
    webhook_replays: bool,
    /// The model that words the answers; none if they are the pages' own words.
    model: Option<String>,
}

impl Offers {
    pub(super) fn of(app: &App, visiting: &Visiting) -> Self {
        Self {
            fault_switch: visiting.is_developer(),
            webhook_replays: visiting.is_developer(),
            model: app.model().map(|model| model.name().to_owned()),
        }
    }
}
