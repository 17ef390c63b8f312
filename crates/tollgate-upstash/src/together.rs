//! Takes that are made by one command.
//!
//! One script call that makes fifty takes costs the server about half of what fifty calls do: to be called, and to be remembered, is
//! there once. A command that failed and is sent again has to be the very same, or what it had counted would be counted again; so each take knows
//! the command it went with, and goes with that one until it is answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tollgate_script::{Call, Prefix, Replay, remembered_take_call, take_many_call};
use tollgate_store::random_id;

use crate::command::Command;

/// The most takes that one command makes: a server answers nobody else meanwhile.
pub(crate) const MOST_TAKES: usize = 64;

/// A caller's take.
pub(crate) struct Taking {
    /// A take without a replay.
    call: Call,
    prefix: Prefix,
    /// For how long its answer has to be remembered.
    keep: Duration,
    went_with: Mutex<Option<Place>>,
    is_apart: AtomicBool,
}

/// Where the answer to a take is: in the answer to this command, at that place.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) group: Arc<Group>,
    pub(crate) at: usize,
}

/// Takes that one command makes, and remembers.
pub(crate) struct Group {
    pub(crate) command: Command,
    pub(crate) takes: usize,
    /// How often it was sent without word that it was not run.
    sendings: AtomicUsize,
}

impl Taking {
    pub(crate) fn new(call: Call, prefix: Prefix, keep: Duration) -> Self {
        Self { call, prefix, keep, went_with: Mutex::new(None), is_apart: AtomicBool::new(false) }
    }

    /// As a command of its own.
    pub(crate) fn alone(&self) -> Command {
        let call = remembered_take_call(&self.prefix, &self.call, Replay::new(random_id(), self.keep));
        Command::of(&call.expect("what is held here is the call of a take"))
    }

    /// About how long it is in a command.
    pub(crate) fn len(&self) -> usize {
        Command::len_of(&self.call)
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.went_with.lock().clone()
    }

    /// From now on it goes by itself: those it went with were refused together, and nothing was counted.
    pub(crate) fn go_apart(&self) {
        *self.went_with.lock() = None;
        self.is_apart.store(true, Ordering::Relaxed);
    }

    /// Whether both can be made by one command: it remembers them under one prefix.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let is_apart = |taking: &Self| taking.is_apart.load(Ordering::Relaxed);
        self.prefix == other.prefix && !is_apart(self) && !is_apart(other)
    }
}

impl Group {
    /// Has these takes go together, and tells each where its answer will be.
    pub(crate) fn of<'t>(takings: impl Iterator<Item = &'t Taking> + Clone) -> Option<Arc<Self>> {
        let first = takings.clone().next()?;
        let takes = takings.clone().count();
        let command = if takes == 1 {
            first.alone()
        } else {
            let keep = takings.clone().map(|taking| taking.keep).max().unwrap_or(first.keep);
            let calls = takings.clone().map(|taking| &taking.call);
            let call = take_many_call(&first.prefix, calls, Replay::new(random_id(), keep));
            Command::of(&call.expect("what is held here are calls of takes"))
        };
        let group = Arc::new(Self { command, takes, sendings: AtomicUsize::new(0) });
        for (at, taking) in takings.enumerate() {
            *taking.went_with.lock() = Some(Place { group: Arc::clone(&group), at });
        }
        Some(group)
    }

    /// It is about to be sent; says whether the server may have run it before.
    pub(crate) fn note_sending(&self) -> bool {
        self.sendings.fetch_add(1, Ordering::Relaxed) > 0
    }

    /// The server has said that it did not run it this time.
    pub(crate) fn note_not_run(&self) {
        self.sendings.fetch_sub(1, Ordering::Relaxed);
    }
}
