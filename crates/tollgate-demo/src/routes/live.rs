//! `GET /api/live`: what `GET /api/limits` says, and how the last minutes went, told again whenever it changes. Counts nothing.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::watch;
use tollgate_http::Rejection;
use tollgate_visitor::Visitor;

use super::{
    limits::{About, OWN_PROJECT},
    offers::Offers,
    visitor::Seen,
};
use crate::{
    App, Name, Session, Visiting,
    activity::{SPAN_MS, STEP_MS, Step},
    allowance::{Allowance, Row},
    live::{Place, Signal},
};

/// How often it looks and says that it lives, though nobody told it of a change: another process may count in the same store.
const BEAT: Duration = Duration::from_secs(5);

/// How long it lets changes gather, so that a burst of requests is told once.
const GATHER: Duration = Duration::from_millis(100);

/// How long a client waits before it connects again.
const RECONNECT: Duration = Duration::from_secs(2);

/// The first event, `hello`: what does not change while the stream lasts.
#[derive(Debug, Serialize)]
struct Hello {
    now: u64,
    #[serde(flatten)]
    seen: Seen,
    org: Option<String>,
    store: String,
    offers: Offers,
}

/// The event `limits`.
#[derive(Debug, Serialize)]
struct Limits<'a> {
    now: u64,
    up: bool,
    rows: &'a [Row],
}

/// The event `activity`.
#[derive(Debug, Serialize)]
struct Lately<'a> {
    now: u64,
    step_ms: u64,
    span_ms: u64,
    steps: &'a [Step],
}

/// The event `beat`.
#[derive(Debug, Serialize)]
struct Beat {
    now: u64,
}

pub(super) async fn live(
    State(app): State<App>,
    visiting: Visiting,
    session: Option<Session>,
    about: Result<Query<About>, QueryRejection>,
) -> Result<Response, Rejection> {
    let project = About::read(about)?;
    let place = app.live().enter(visiting.own()).ok_or_else(too_many)?;
    let hello = Hello {
        now: app.guard().now().unix_ms(),
        seen: Seen::of(&visiting),
        org: session.as_ref().map(|session| session.org().as_str().to_owned()),
        store: app.store_kind().to_string(),
        offers: Offers::of(&app, &visiting),
    };
    let hello = event("hello", &hello).retry(RECONNECT);
    let watch = Watch {
        signal: app.live().signal(),
        visitor: visiting.visitor().clone(),
        app,
        project,
        session,
        events: VecDeque::from([hello]),
        told: None,
        _place: place,
    };
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(([no_store], Sse::new(stream::unfold(watch, Watch::next))).into_response())
}

fn too_many() -> Rejection {
    let detail = "there are as many live streams as may be: close one, or ask GET /api/limits";
    let mut rejection = Rejection::problem(StatusCode::TOO_MANY_REQUESTS, detail);
    rejection.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
    rejection
}

/// One stream. Its waits are its own and end with it.
struct Watch {
    app: App,
    visitor: Visitor,
    project: Option<Name>,
    session: Option<Session>,
    signal: watch::Receiver<Signal>,
    events: VecDeque<Event>,
    /// What was told last; nothing before the first look.
    told: Option<Told>,
    _place: Place,
}

#[derive(PartialEq)]
struct Told {
    up: bool,
    rows: Vec<Row>,
    steps: Vec<Step>,
}

impl Watch {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some((Ok(event), self));
            }
            if self.told.is_some() {
                self.wait().await;
            }
            if self.is_over() {
                return None;
            }
            self.look().await;
        }
    }

    /// Whether the server stops, or the session that it shows has ended: then the client shall connect anew.
    fn is_over(&mut self) -> bool {
        let now = self.app.guard().now();
        self.signal.borrow_and_update().is_closed
            || self.session.as_ref().is_some_and(|session| session.ends_at() <= now)
    }

    #[expect(clippy::disallowed_methods, reason = "when to look again is no decision of a limit")]
    async fn wait(&mut self) {
        let now = self.app.guard().now();
        let rows = self.told.iter().flat_map(|told| &told.rows);
        let resets = rows.filter_map(Row::reset_at).filter(|&at| at > now);
        let after = resets.map(|at| at.since(now)).min().map_or(BEAT, |reset| reset.min(BEAT));
        tokio::select! {
            // It cannot fail: the application is part of this stream, and the sender part of that.
            _ = self.signal.changed() => if !self.signal.borrow().is_closed {
                tokio::time::sleep(GATHER).await;
            },
            () = tokio::time::sleep(after) => {}
        }
    }

    async fn look(&mut self) {
        let allowance = Allowance {
            visitor: &self.visitor,
            project: self.project.as_ref().map_or(OWN_PROJECT, Name::as_str),
            org: self.session.as_ref().map(|session| session.org().as_str()),
        };
        let rows = allowance.look(&self.app).await;
        let now = self.app.guard().now();
        let told = Told { up: self.app.switch().is_on(), rows, steps: self.app.activity().steps(now) };
        let now = now.unix_ms();
        let before = self.told.as_ref();
        if before.is_none_or(|before| (before.up, &before.rows) != (told.up, &told.rows)) {
            self.events.push_back(event("limits", &Limits { now, up: told.up, rows: &told.rows }));
        }
        if before.is_none_or(|before| before.steps != told.steps) {
            let lately = Lately { now, step_ms: STEP_MS, span_ms: SPAN_MS, steps: &told.steps };
            self.events.push_back(event("activity", &lately));
        }
        if self.events.is_empty() {
            self.events.push_back(event("beat", &Beat { now }));
        }
        self.told = Some(told);
    }
}

/// Texts and numbers: there is nothing that JSON could not hold, and an event without data is none to a client.
pub(super) fn event(name: &'static str, data: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    event.json_data(data).unwrap_or_default()
}
