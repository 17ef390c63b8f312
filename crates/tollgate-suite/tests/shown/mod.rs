//! Shows which cases and histories find which faults of a broken store, whatever it keeps.

use std::{fmt::Debug, future::poll_fn, task::Poll};

use tollgate_suite::SEEDS;

/// The faults that a store can be given, one at a time.
macro_rules! faults {
    ($($fault:ident)*) => {
        /// What is wrong with a store. Each is a mistake that somebody could make.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Fault {
            $($fault,)*
        }

        impl Fault {
            pub(crate) const ALL: &[Self] = &[$(Self::$fault,)*];
        }
    };
}
pub(crate) use faults;

/// Which faults there are, and what finds them.
pub(crate) struct Shown<F: 'static> {
    pub(crate) all: &'static [F],
    /// Every case, with the faults that it finds.
    pub(crate) found_by: &'static [(&'static str, &'static [F])],
    /// What random histories do not meet, so that only a case finds it.
    pub(crate) not_met_by_histories: &'static [F],
}

impl<F: Copy + Debug + PartialEq> Shown<F> {
    /// `finds` says whether a case, known by its place in the list of these names, fails on a store with a fault.
    pub(crate) async fn each_case_fails(
        &self,
        names: impl ExactSizeIterator<Item = &'static str>,
        finds: impl AsyncFn(usize, F) -> bool,
    ) {
        let (mut missed, cases) = (Vec::new(), names.len());
        for (at, case) in names.enumerate() {
            let row = self.found_by.iter().find(|(name, _)| *name == case);
            let Some((_, faults)) = row.filter(|(_, faults)| !faults.is_empty()) else {
                missed.push(format!("{case} is shown to fail by nothing"));
                continue;
            };
            for fault in *faults {
                if !finds(at, *fault).await {
                    missed.push(format!("{case} does not find {fault:?}"));
                }
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
        assert_eq!(self.found_by.len(), cases, "a row for each case, and none beside");
    }

    pub(crate) fn every_fault_is_found_by_a_case(&self) {
        let is_found = |fault: &&F| self.found_by.iter().any(|(_, faults)| faults.contains(fault));
        assert_eq!(self.all.iter().filter(|fault| !is_found(fault)).collect::<Vec<_>>(), Vec::<&F>::new());
    }

    /// `finds` says whether the history of a seed fails on a store with a fault.
    pub(crate) async fn random_histories_find_the_others(&self, finds: impl AsyncFn(F, u64) -> bool) {
        let mut missed = Vec::new();
        for fault in self.all.iter().filter(|fault| !self.not_met_by_histories.contains(fault)) {
            let mut is_found = false;
            for seed in SEEDS {
                is_found = is_found || finds(*fault, seed).await;
            }
            if !is_found {
                missed.push(fault);
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
    }
}

/// Lets every other task of the same thread go first.
pub(crate) async fn yield_once() {
    let mut polled = false;
    poll_fn(|context| {
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
