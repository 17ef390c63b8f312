//! What a case about claims stands on: the store, keys and tokens of its own, and ways to say what is expected.

use std::fmt::Debug;

use tollgate_core::{Timestamp, Window};
use tollgate_store::{
    Claim, ClaimKey, ClaimToken, Claimed, Claims, Confirm, Hold, Key, Part, Release, StoreError,
};

use crate::{Failure, Setting, ground::NAME, setting::after};

/// How long a claim is held here: far longer than any test runs, since a server counts lifetimes by a clock of its own.
pub(crate) const LEASE: Window = Window::HOUR;
/// How long it is remembered as done.
pub(crate) const RETENTION: Window = Window::DAY;

/// What a case stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) claims: &'a dyn Claims,
    pub(crate) setting: &'a Setting,
    pub(crate) case: &'static str,
}

/// A key of one case, which no other case of any run has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    parts: [Part<'a>; 4],
}

impl Slot<'_> {
    pub(crate) const fn key(&self) -> ClaimKey<'_> {
        ClaimKey::Key(Key::new(NAME, &self.parts))
    }
}

impl<'a> Ground<'a> {
    /// The case's key of this label.
    pub(crate) const fn slot(&self, label: &'a str) -> Slot<'a> {
        let parts =
            [Part::Number(self.setting.run), Part::Text(self.case), Part::Text("claim"), Part::Text(label)];
        Slot { parts }
    }

    /// The case's literal key of this label.
    pub(crate) fn literal(&self, label: &str) -> String {
        format!("suite-claim:{}:{}:{label}", self.setting.run, self.case)
    }

    /// The case's token of this number.
    pub(crate) fn token(&self, number: u32) -> ClaimToken {
        ClaimToken::new(self.setting.id((self.case, "token", number)).bits())
    }

    /// So many milliseconds after the beginning.
    pub(crate) const fn at(&self, ms: u64) -> Timestamp {
        after(self.setting.epoch, ms)
    }

    pub(crate) async fn try_claim(
        &self,
        key: ClaimKey<'_>,
        token: ClaimToken,
        now: Timestamp,
    ) -> Result<Claimed, StoreError> {
        self.claims.claim(Claim { key, token, lease: LEASE, now }).await
    }

    /// Claims, and holds the answer against what is owed.
    pub(crate) async fn claim(
        &self,
        what: &str,
        key: ClaimKey<'_>,
        token: ClaimToken,
        now: Timestamp,
        want: Claimed,
    ) -> Result<(), Failure> {
        let got = self.try_claim(key, token, now).await.map_err(|error| self.unexpected("claim", &error))?;
        self.same(what, got, want)
    }

    /// Claims what is free, at this time.
    pub(crate) async fn claim_ours(
        &self,
        key: ClaimKey<'_>,
        token: ClaimToken,
        now: Timestamp,
    ) -> Result<(), Failure> {
        self.claim("a claim of what is free", key, token, now, ours(now)).await
    }

    pub(crate) async fn renew(
        &self,
        what: &str,
        key: ClaimKey<'_>,
        token: ClaimToken,
        now: Timestamp,
        want: Hold,
    ) -> Result<(), Failure> {
        let renewed = self.claims.renew(Claim { key, token, lease: LEASE, now }).await;
        self.same(what, renewed.map_err(|error| self.unexpected("renew", &error))?, want)
    }

    pub(crate) async fn confirm(
        &self,
        what: &str,
        key: ClaimKey<'_>,
        token: ClaimToken,
        now: Timestamp,
        want: Hold,
    ) -> Result<(), Failure> {
        let confirmed = self.claims.confirm(Confirm { key, token, retention: RETENTION, now }).await;
        self.same(what, confirmed.map_err(|error| self.unexpected("confirm", &error))?, want)
    }

    pub(crate) async fn release(&self, key: ClaimKey<'_>, token: ClaimToken) -> Result<(), Failure> {
        let released = self.claims.release(Release { key, token }).await;
        released.map_err(|error| self.unexpected("release", &error))
    }

    /// Fails unless the two are the same.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a case reads as a list of facts, without signs of borrowing"
    )]
    pub(crate) fn same<T: PartialEq + Debug>(&self, what: &str, got: T, want: T) -> Result<(), Failure> {
        if got == want {
            return Ok(());
        }
        Err(Failure::new(self.case, format!("{what}: the store says {got:?}, it owes {want:?}")))
    }

    pub(crate) fn unexpected(&self, call: &str, error: &StoreError) -> Failure {
        Failure::new(self.case, format!("{call} failed: {error}"))
    }
}

/// The answer to a claim that was made now.
pub(crate) const fn ours(now: Timestamp) -> Claimed {
    Claimed::Ours { until: after(now, LEASE.ms()) }
}

/// The answer to a claim of what somebody else claimed then.
pub(crate) const fn running(since: Timestamp) -> Claimed {
    Claimed::Running { until: after(since, LEASE.ms()) }
}
