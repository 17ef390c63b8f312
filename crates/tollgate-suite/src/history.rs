//! What happens in a random history: which step comes next.

use std::collections::VecDeque;

use fastrand::Rng;
use tollgate_core::{Charging, Limit, Stamp, Timestamp, Units, Window};
use tollgate_store::{Charge, Correction, Decisions, Key, Name, Part, SettleId, Target};

use crate::{
    Reference, Setting,
    owed::{counted_in, current, is_owed, width},
    setting::{after, before},
};

/// The next thing to happen. Keys are places in the history's pool.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Take { charges: Vec<Planned>, now: Timestamp, at_once: bool },
    Settle(Settlement),
    Forget { targets: Vec<(usize, Limit)>, now: Timestamp },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    key: usize,
    limit: Limit,
    cost: Units,
    charging: Charging,
    enforce: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Settlement {
    pub(crate) id: SettleId,
    pub(crate) corrections: Vec<(Made, i64)>,
    pub(crate) now: Timestamp,
}

/// A charge that was decided, and can be corrected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    key: usize,
    limit: Limit,
    cost: Units,
    stamp: Stamp,
}

pub(crate) struct History {
    setting: Setting,
    seed: u64,
    rng: Rng,
    parts: Vec<[Part<'static>; 5]>,
    limits: Vec<Limit>,
    /// The limits each key was used with since it was last forgotten: one of them wrote what is kept of it.
    used: Vec<Vec<Limit>>,
    /// The newest time of all: it never steps back, though a step may name an older one.
    newest: Timestamp,
    settlements: u64,
    made: VecDeque<Made>,
    settled: VecDeque<Settlement>,
    retry_at: Option<Timestamp>,
}

const NAME: Name<'static> = Name::new("suite");

/// How much a history remembers of what it did.
const REMEMBERED: usize = 48;
const SENT_LATELY: usize = 4;

/// The windows and buckets that a history is about, each under two keys. None is shorter than a minute: a server
/// whose keys expire by its own clock must not lose one while the history stands still.
const KINDS: [Limit; 12] = [
    Limit::fixed(3, Window::MINUTE),
    Limit::fixed(10, Window::from_ms(61_001)),
    Limit::fixed(8, Window::HOUR),
    Limit::fixed(20, Window::DAY),
    Limit::sliding(3, Window::MINUTE),
    Limit::sliding(10, Window::from_ms(61_001)),
    Limit::sliding(50, Window::HOUR),
    Limit::sliding(1_000_003, Window::DAY),
    Limit::bucket(5, 1, Window::MINUTE),
    Limit::bucket(20, 7, Window::from_ms(61_001)),
    Limit::bucket(4, 3, Window::HOUR),
    Limit::bucket(1_000_003, 1, Window::DAY),
];

/// Under each of these there are all kinds.
const LABELS: [&str; 2] = ["2001:db8:0:0::/64", "*{%}:\n🦀"];

impl History {
    pub(crate) fn new(setting: &Setting, seed: u64) -> Self {
        // What is of all keys comes first, so that the label stands last, where `:` is not escaped.
        let key_of = |kind, label| {
            let (run, seed) = (Part::Number(setting.run), Part::Number(seed));
            [run, Part::Text("history"), seed, Part::Number(kind), Part::Text(label)]
        };
        let (parts, limits): (Vec<_>, Vec<_>) = LABELS
            .iter()
            .flat_map(|label| KINDS.iter().zip(0..).map(move |(limit, kind)| (key_of(kind, *label), *limit)))
            .unzip();
        Self {
            setting: *setting,
            seed,
            rng: Rng::with_seed(seed),
            used: vec![Vec::new(); limits.len()],
            parts,
            limits,
            newest: setting.start(Window::DAY),
            settlements: 0,
            made: VecDeque::new(),
            settled: VecDeque::new(),
            retry_at: None,
        }
    }

    /// The newest time of all.
    pub(crate) const fn newest(&self) -> Timestamp {
        self.newest
    }

    pub(crate) fn key(&self, at: usize) -> Key<'_> {
        Key::new(NAME, &self.parts[at])
    }

    pub(crate) fn charge(&self, planned: &Planned) -> Charge<'_> {
        let Planned { key, limit, cost, charging, enforce } = *planned;
        Charge { key: self.key(key), limit, cost, charging, enforce }
    }

    pub(crate) fn correction(&self, made: &Made, delta: i64) -> Correction<'_> {
        Correction { key: self.key(made.key), limit: made.limit, stamp: made.stamp, delta }
    }

    pub(crate) fn target(&self, key: usize, limit: Limit) -> Target<'_> {
        Target { key: self.key(key), limit }
    }

    /// All keys.
    pub(crate) fn targets(&self) -> Vec<Target<'_>> {
        self.limits.iter().enumerate().map(|(key, limit)| self.target(key, *limit)).collect()
    }

    /// What looks at the keys a step has touched, and writes nothing.
    pub(crate) fn looks(&self, step: &Step) -> Vec<Planned> {
        let mut touched: Vec<_> = match step {
            Step::Take { charges, .. } => charges.iter().map(|charge| (charge.key, charge.limit)).collect(),
            Step::Settle(settlement) => {
                settlement.corrections.iter().map(|(made, _)| (made.key, made.limit)).collect()
            }
            Step::Forget { targets, .. } => targets.clone(),
        };
        touched.sort_unstable_by_key(|(key, _)| *key);
        touched.dedup_by_key(|(key, _)| *key);
        let look = |(key, limit)| Planned {
            key,
            limit,
            cost: Units::ONE,
            charging: Charging::Never,
            enforce: false,
        };
        touched.into_iter().map(look).collect()
    }

    /// Remembers what was decided, so that later steps can correct it and come back in time.
    pub(crate) fn note(&mut self, charges: &[Planned], decisions: &Decisions) {
        self.retry_at = decisions.retry_at().or(self.retry_at);
        for (charge, decision) in charges.iter().zip(decisions) {
            let written = decisions.is_admitted() || charge.charging == Charging::Always;
            // Now and then what was not written is corrected all the same.
            if written || self.rng.u8(..8) == 0 {
                let Planned { key, limit, cost, .. } = *charge;
                self.made.push_back(Made { key, limit, cost, stamp: decision.stamp() });
            }
        }
        while self.made.len() > REMEMBERED {
            self.made.pop_front();
        }
    }

    /// What happens next. `model` says what is known so far.
    pub(crate) fn next(&mut self, model: &Reference) -> Step {
        self.advance();
        if let Some(step) = self.forget_lapsed(model) {
            return step;
        }
        match self.rng.u8(..100) {
            0..3 => self.misuse(),
            3..6 => self.behind(model),
            6..20 => self.settle(model),
            20..25 => self.forget(model),
            _ => self.take(model),
        }
    }

    /// Forgets a key of which it is not owed what it says.
    fn forget_lapsed(&mut self, model: &Reference) -> Option<Step> {
        let lapsed = (0..self.limits.len()).find(|key| self.is_lapsed(model, *key, self.limits[*key]))?;
        self.used[lapsed].clear();
        Some(Step::Forget { targets: vec![(lapsed, self.limits[lapsed])], now: self.newest })
    }

    /// Whether what a key says for this limit hangs on an idle state: it says something, and nothing for a limit of another quota
    /// that may have written it, so a store may have dropped it. A bucket of 13 that is full is none, but of 36 it lacks 23.
    fn is_lapsed(&self, model: &Reference, key: usize, limit: Limit) -> bool {
        model.state(&self.key(key)).is_some_and(|state| {
            let is_idle = |limit: &Limit| limit.idle_at(&state) <= self.newest;
            !is_idle(&limit) && self.used[key].iter().any(is_idle)
        })
    }

    /// Remembers what limit a key is used with.
    fn note_use(&mut self, key: usize, limit: Limit) {
        if !self.used[key].contains(&limit) {
            self.used[key].push(limit);
        }
    }

    /// Lets time pass: mostly a little, often to an edge, or to an instant that a refusal named.
    fn advance(&mut self) {
        let window = self.limits[self.rng.usize(..self.limits.len())].period().ms();
        let edge = (self.newest.unix_ms() / window + 1) * window;
        let beside = |rng: &mut Rng, at: u64| Timestamp::from_unix_ms((at + rng.u64(..3)).saturating_sub(1));
        let next = match self.rng.u8(..100) {
            0..45 => self.newest,
            45..70 => after(self.newest, self.rng.u64(..2_000)),
            70..80 => after(self.newest, self.rng.u64(..window.min(Window::DAY.ms()))),
            80..88 if window <= Window::DAY.ms() => beside(&mut self.rng, edge),
            88..98 => match self.retry_at.take() {
                Some(at) if at.since(self.newest).as_secs() < 200_000 => beside(&mut self.rng, at.unix_ms()),
                _ => self.newest,
            },
            98 => after(self.newest, self.rng.u64(..4 * Window::DAY.ms())),
            _ => self.newest,
        };
        self.newest = self.newest.max(next);
    }

    fn take(&mut self, model: &Reference) -> Step {
        let count = match self.rng.u8(..100) {
            0..35 => 1,
            35..80 => self.rng.usize(2..=4),
            _ => self.rng.usize(5..=8),
        };
        let mut charges: Vec<_> = self.pick(count).into_iter().map(|key| self.plan(model, key)).collect();
        let now = self.now(model, &mut charges, |charge| (charge.key, charge.limit));
        Step::Take { charges, now, at_once: self.rng.bool() }
    }

    fn plan(&mut self, model: &Reference, key: usize) -> Planned {
        if self.rng.u8(..40) == 0 {
            let quota = match self.rng.u8(..24) {
                0..2 => Units::ZERO,
                2 => Units::MAX,
                _ => Units::saturating(self.rng.u64(1..40)),
            };
            let limit = self.limits[key].with_quota(quota);
            if !self.is_lapsed(model, key, limit) {
                self.limits[key] = limit;
            }
        }
        let limit = self.limits[key];
        let quota = limit.quota().get();
        let cost = match self.rng.u8(..100) {
            0..60 => 1,
            60..70 => 0,
            70..80 => self.rng.u64(..=quota),
            80..83 => quota.saturating_add(self.rng.u64(1..10)),
            83..85 => Units::MAX.get() - self.rng.u64(..3),
            // All that is left, and one unit more.
            _ => self.left(model, key, limit) + self.rng.u64(..2),
        };
        let charging = match self.rng.u8(..20) {
            0..14 => Charging::IfAllowed,
            14..17 => Charging::Always,
            _ => Charging::Never,
        };
        self.note_use(key, limit);
        Planned { key, limit, cost: Units::saturating(cost), charging, enforce: self.rng.u8(..7) > 0 }
    }

    fn left(&self, model: &Reference, key: usize, limit: Limit) -> u64 {
        let state = model.state(&self.key(key));
        limit.step(state, Units::ZERO, self.newest, Charging::Never, false).decision.remaining()
    }

    /// Keys, none twice.
    fn pick(&mut self, count: usize) -> Vec<usize> {
        let mut keys: Vec<_> = (0..self.parts.len()).collect();
        self.rng.shuffle(&mut keys);
        keys.truncate(count);
        keys
    }

    /// The newest time, or now and then an older one; then without the keys that not every store owes an answer for.
    fn now<T: Clone>(
        &mut self,
        model: &Reference,
        items: &mut Vec<T>,
        key_of: impl Fn(&T) -> (usize, Limit),
    ) -> Timestamp {
        let widths = items.iter().filter_map(|item| width(&key_of(item).1));
        let back = widths.max().unwrap_or(Window::HOUR.ms());
        let back = match self.rng.u8(..40) {
            0..4 => self.rng.u64(..=back.min(5_000)),
            4..8 => self.rng.u64(..=back),
            8 => back,
            9 => back - 1,
            _ => return self.newest,
        };
        let now = before(self.newest, back);
        let is_owed = |item: &T| {
            let (key, limit) = key_of(item);
            is_owed(&limit, model.state(&self.key(key)), self.newest, now)
        };
        let owed: Vec<_> = items.iter().filter(|item| is_owed(item)).cloned().collect();
        if owed.is_empty() {
            return self.newest;
        }
        *items = owed;
        now
    }

    fn misuse(&mut self) -> Step {
        let count = if self.rng.bool() { 9 } else { self.rng.usize(2..=8) };
        let mut charges: Vec<_> = self
            .pick(count)
            .into_iter()
            .map(|key| Planned {
                key,
                limit: self.limits[key],
                cost: Units::ONE,
                charging: Charging::IfAllowed,
                enforce: true,
            })
            .collect();
        if count < 9 {
            charges[count - 1] =
                Planned { charging: Charging::Always, ..charges[self.rng.usize(..count - 1)] };
        }
        Step::Take { charges, now: self.newest, at_once: self.rng.bool() }
    }

    /// A take by a clock that is more than one window behind what one of its keys holds.
    fn behind(&mut self, model: &Reference) -> Step {
        let keys = self.pick(4);
        let found = keys.iter().find_map(|key| {
            let width = width(&self.limits[*key])?;
            let start = counted_in(model.state(&self.key(*key)))?;
            (start == current(self.newest, width)).then_some((start, width))
        });
        let Some((start, width)) = found else { return self.take(model) };
        // As little behind as can be, and as much as a store that keeps a key for each window can still see.
        let by = if self.rng.bool() { 1 } else { self.rng.u64(1..=width) };
        let charges = keys.into_iter().map(|key| self.plan(model, key)).collect();
        Step::Take { charges, now: before(start, width + by), at_once: self.rng.bool() }
    }

    fn settle(&mut self, model: &Reference) -> Step {
        if self.rng.bool()
            && let Some(settlement) = self.again(model)
        {
            return Step::Settle(settlement);
        }
        let mut corrections: Vec<(Made, i64)> = Vec::new();
        for _ in 0..self.rng.usize(1..=4) {
            let Some(made) = self.correctable() else { continue };
            if corrections.iter().all(|(earlier, _)| earlier.key != made.key)
                && !self.is_lapsed(model, made.key, made.limit)
            {
                let cost = i64::try_from(made.cost.get()).unwrap_or(i64::MAX);
                let delta = match self.rng.u8(..12) {
                    0..4 => -cost,
                    4..7 => -self.rng.i64(..=cost),
                    7..9 => self.rng.i64(1..10),
                    9 => -2 * cost - 3,
                    10 => [i64::MIN, i64::MAX, -1, 1][self.rng.usize(..4)],
                    _ => 0,
                };
                self.note_use(made.key, made.limit);
                corrections.push((made, delta));
            }
        }
        let now = self.now(model, &mut corrections, |(made, _)| (made.key, made.limit));
        let id = self.setting.id(("history", self.seed, self.settlements));
        self.settlements += 1;
        let settlement = Settlement { id, corrections, now };
        self.settled.push_front(settlement.clone());
        self.settled.truncate(SENT_LATELY);
        Step::Settle(settlement)
    }

    /// A charge of any age; rather a new one, or one that was corrected just now.
    fn correctable(&mut self) -> Option<Made> {
        let newest = self.made.len().checked_sub(1)?;
        match self.rng.u8(..4) {
            0 => {
                let settlement = self.settled.get(self.rng.usize(..SENT_LATELY))?;
                settlement.corrections.first().map(|(made, _)| *made)
            }
            1 => self.made.get(newest - self.rng.usize(..=newest.min(4))).copied(),
            _ => self.made.get(self.rng.usize(..=newest)).copied(),
        }
    }

    /// A settlement that was sent before, while what it corrects can still count.
    fn again(&mut self, model: &Reference) -> Option<Settlement> {
        let settlement = self.settled.get(self.rng.usize(..SENT_LATELY))?;
        let shortest = settlement.corrections.iter().map(|(made, _)| made.limit.period().duration()).min()?;
        let now = self.newest;
        let mut corrected = settlement.corrections.iter().map(|(made, _)| made);
        let is_owed = corrected.all(|made| !self.is_lapsed(model, made.key, made.limit));
        (is_owed && now.since(settlement.now) < shortest).then(|| Settlement { now, ..settlement.clone() })
    }

    fn forget(&mut self, model: &Reference) -> Step {
        let count = self.rng.usize(1..=4);
        let mut targets: Vec<_> = self.pick(count).into_iter().map(|key| (key, self.limits[key])).collect();
        let now = self.now(model, &mut targets, |target| *target);
        Step::Forget { targets, now }
    }
}
