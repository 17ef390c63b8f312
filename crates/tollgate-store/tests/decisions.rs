//! What a store answers to a take.

use tollgate_core::{Charging, Decision, Limit, State, Timestamp, Units, Verdict, Window};
use tollgate_store::{Charge, Decisions, Part, StoreErrorKind, Take};

use crate::support::{LIMIT, NOON, charge, key};

const PARTS: [[Part<'static>; 1]; 9] = [
    [Part::Number(0)],
    [Part::Number(1)],
    [Part::Number(2)],
    [Part::Number(3)],
    [Part::Number(4)],
    [Part::Number(5)],
    [Part::Number(6)],
    [Part::Number(7)],
    [Part::Number(8)],
];

type Found = Option<State>;
type Given = (Limit, Found);

fn after(ms: u64) -> Timestamp {
    NOON.saturating_add_ms(ms)
}

/// A bucket without units that holds `tokens` in so many milliseconds.
fn empty(refilled_after: u64) -> (Limit, State) {
    let interval = Window::from_ms(refilled_after);
    (Limit::bucket(1, 1, interval), State::Bucket { refilled_at: NOON, tokens: 0 })
}

fn charges<'a>(limits: &[Limit]) -> Vec<Charge<'a>> {
    limits.iter().zip(&PARTS).map(|(limit, parts)| Charge::new(key(parts), *limit)).collect()
}

fn verdict(charges: &[Charge<'_>], found: &[Option<State>]) -> Verdict {
    let take = Take { charges, now: NOON };
    let decided = Decisions::decide(&take, found.iter().copied(), |_, _| ());
    let decisions = decided.expect("nothing here is misuse");
    assert_eq!(decisions.is_admitted(), decisions.verdict() == Verdict::Allow);
    match decisions.verdict() {
        Verdict::Allow => assert_eq!((decisions.retry_at(), decisions.refusing().count()), (None, 0)),
        Verdict::Deny { retry_at } => {
            assert_eq!(decisions.retry_at(), retry_at);
            assert!(decisions.refusing().count() > 0);
        }
    }
    decisions.verdict()
}

#[test]
fn the_latest_refusal_decides_when_to_retry() {
    let (soon, soon_state) = empty(1_000);
    let (late, late_state) = empty(90_000);
    let open = LIMIT;
    let closed = Limit::fixed(0, Window::MINUTE);
    let deny = |ms| Verdict::Deny { retry_at: Some(after(ms)) };
    let never = Verdict::Deny { retry_at: None };
    let (soon, late) = ((soon, Some(soon_state)), (late, Some(late_state)));
    let (open, closed) = ((open, None), (closed, None));
    let table: [(&[Given], Verdict); 9] = [
        (&[], Verdict::Allow),
        (&[open], Verdict::Allow),
        (&[soon], deny(1_000)),
        (&[soon, late], deny(90_000)),
        (&[late, soon, open], deny(90_000)),
        (&[open, soon], deny(1_000)),
        (&[closed], never),
        (&[closed, late], never),
        (&[soon, open, closed], never),
    ];
    for (given, want) in table {
        let limits: Vec<_> = given.iter().map(|(limit, _)| *limit).collect();
        let found: Vec<_> = given.iter().map(|(_, found)| *found).collect();
        assert_eq!(verdict(&charges(&limits), &found), want, "{given:?}");

        // Beside a shadow that would refuse for ever, the answer is the same.
        let mut with_shadow = charges(&limits);
        with_shadow
            .push(Charge { enforce: false, ..Charge::new(key(&PARTS[8]), Limit::fixed(0, Window::DAY)) });
        let found = [&found[..], &[None]].concat();
        assert_eq!(verdict(&with_shadow, &found), want, "{given:?} and a shadow");
    }
}

#[test]
fn only_enforced_charges_refuse() {
    let start = Timestamp::from_unix_ms(NOON.unix_ms() / 60_000 * 60_000);
    let end = start.saturating_add_ms(60_000);
    let full = State::Window { start, end, used: Units::new(3), before: Units::ZERO };
    let all = charges(&[LIMIT; 8]);
    for enforced in 0..=u8::MAX {
        let is_enforced = |at: usize| enforced >> at & 1 == 1;
        let charges: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(at, charge)| Charge { enforce: is_enforced(at), ..*charge })
            .collect();
        let take = Take { charges: &charges, now: NOON };
        let found = (0..8).map(|at| (at % 3 == 0).then_some(full));
        let decisions = Decisions::decide(&take, found, |_, _| ()).unwrap();
        let refusing: Vec<_> = (0..8).filter(|at| at % 3 == 0 && is_enforced(*at)).collect();
        assert_eq!(decisions.refusing().map(|(at, _)| at).collect::<Vec<_>>(), refusing);
        assert!(decisions.refusing().all(|(at, decision)| *decision == decisions[at]));
        assert_eq!(decisions.is_admitted(), refusing.is_empty());
        assert!((0..8).all(|at| decisions.is_enforced(at) == is_enforced(at)));
        assert!(!decisions.is_enforced(8) && !decisions.is_enforced(usize::MAX));
    }
}

#[test]
fn each_state_is_handed_out_once_in_order() {
    let given = charges(&[LIMIT, Limit::bucket(5, 1, Window::MINUTE), LIMIT]);
    let given = [given[0], Charge { charging: Charging::Never, ..given[1] }, given[2]];
    let kept = State::Bucket { refilled_at: NOON, tokens: 2 };
    let mut written = Vec::new();
    let take = Take { charges: &given, now: NOON };
    let decisions =
        Decisions::decide(&take, [None, Some(kept), None], |at, state| written.push((at, state))).unwrap();
    assert_eq!(written.len(), 3);
    assert!(matches!(written[0], (0, Some(State::Window { used: Units::ONE, .. }))));
    assert_eq!(written[1], (1, Some(kept)), "a peek leaves what it found");
    assert!(matches!(written[2], (2, Some(_))));
    assert_eq!((decisions.len(), decisions.decided_at()), (3, NOON));
    assert_eq!((&decisions).into_iter().count(), 3);
    assert_eq!(decisions.iter().map(Decision::left).collect::<Vec<_>>(), [2, 2, 2]);
}

#[test]
fn a_take_that_cannot_be_decided_writes_nothing() {
    let nine: Vec<_> = PARTS.iter().map(|parts| charge(parts)).collect();
    let twice = [nine[0], nine[1], nine[0]];
    let start = Timestamp::from_unix_ms(NOON.unix_ms() / 60_000 * 60_000 + 120_000);
    let end = start.saturating_add_ms(60_000);
    let newer = State::Window { start, end, used: Units::ONE, before: Units::ZERO };
    let table: [(&[Charge<'_>], &[Found], StoreErrorKind); 4] = [
        (&nine, &[None; 9], StoreErrorKind::Misuse),
        (&twice, &[None; 3], StoreErrorKind::Misuse),
        (&nine[..3], &[None; 2], StoreErrorKind::Misuse),
        (&nine[..3], &[None, None, Some(newer)], StoreErrorKind::ClockBehind),
    ];
    for (charges, found, kind) in table {
        let take = Take { charges, now: NOON };
        let error =
            Decisions::decide(&take, found.iter().copied(), |at, _| panic!("{at} is written")).unwrap_err();
        assert_eq!(error.kind(), kind);
    }
}
