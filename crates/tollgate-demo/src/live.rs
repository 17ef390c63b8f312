//! Who watches the site live: how many at most, and how they learn that something has changed.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;
use tollgate_visitor::Visitor;

/// The most streams of one visitor: a browser opens six connections to a server at most, and needs some for its requests.
pub(crate) const MOST_OF_A_VISITOR: usize = 4;

/// The most streams together. Each asks the store again after a change, so this also bounds what one request sets off.
pub(crate) const MOST: usize = 64;

/// The streams that are open. Clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Live(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    signal: watch::Sender<Signal>,
    places: Mutex<HashMap<Visitor, usize>>,
}

/// What streams wait for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signal {
    changes: u64,
    /// The server stops.
    pub(crate) is_closed: bool,
}

/// The right to one stream, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    live: Live,
    visitor: Visitor,
}

impl Live {
    /// Nobody watches.
    #[must_use]
    pub(crate) fn new() -> Self {
        let places = Mutex::new(HashMap::new());
        Self(Arc::new(Inner { signal: watch::Sender::new(Signal::default()), places }))
    }

    /// A place for one more stream of this visitor; `None` if it has, or all together have, as many as may be.
    #[must_use]
    pub(crate) fn enter(&self, visitor: &Visitor) -> Option<Place> {
        let mut places = self.0.places.lock();
        let all: usize = places.values().sum();
        let own = places.get(visitor).copied().unwrap_or_default();
        if all >= MOST || own >= MOST_OF_A_VISITOR {
            return None;
        }
        places.insert(visitor.clone(), own + 1);
        Some(Place { live: self.clone(), visitor: visitor.clone() })
    }

    /// Says that something may have changed.
    pub(crate) fn tell(&self) {
        self.0.signal.send_modify(|signal| signal.changes = signal.changes.wrapping_add(1));
    }

    /// Ends all streams, those to come too.
    pub(crate) fn close(&self) {
        self.0.signal.send_modify(|signal| signal.is_closed = true);
    }

    /// What streams wait for.
    #[must_use]
    pub(crate) fn signal(&self) -> watch::Receiver<Signal> {
        self.0.signal.subscribe()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.live.0.places.lock();
        match places.get_mut(&self.visitor) {
            Some(own) if *own > 1 => *own -= 1,
            Some(_) | None => drop(places.remove(&self.visitor)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderMap;
    use tollgate_visitor::VisitorSource;

    fn visitor(n: u8) -> Visitor {
        let source = VisitorSource::peer().build().unwrap();
        source.identify(&HeaderMap::new(), Some([203, 0, 113, n].into())).unwrap()
    }

    #[test]
    fn places_are_bounded_for_a_visitor_and_together_and_given_back() {
        let live = Live::new();
        let mut own: Vec<_> = (0..MOST_OF_A_VISITOR).map(|_| live.enter(&visitor(1)).unwrap()).collect();
        assert!(live.enter(&visitor(1)).is_none());
        own.pop();
        own.push(live.enter(&visitor(1)).unwrap());

        let free = MOST - own.len();
        let others: Vec<_> = (2..).take(free).map(|n| live.enter(&visitor(n)).unwrap()).collect();
        assert!(live.enter(&visitor(250)).is_none(), "all places are taken");
        drop((own, others));
        assert!(live.0.places.lock().is_empty(), "no visitor is remembered");
        assert!(live.enter(&visitor(250)).is_some());
    }

    #[test]
    fn a_change_and_the_end_are_told() {
        let live = Live::new();
        let mut signal = live.signal();
        assert!(!signal.has_changed().unwrap());
        live.tell();
        assert!(signal.has_changed().unwrap() && !signal.borrow_and_update().is_closed);
        live.close();
        assert!(
            signal.has_changed().unwrap() && signal.borrow().is_closed && live.signal().borrow().is_closed
        );
    }
}
