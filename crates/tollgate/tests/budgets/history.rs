//! Random reservations on three kinds of limit at once: what is counted is what was used.

use fastrand::Rng;
use tollgate::{PolicyCharge, Reservation};

use crate::place::{BUCKET, Place, SLIDING, TOKENS, allowed};

const STEPS: u32 = 300;

/// The seed of a random test, printed: `TOLLGATE_SEED` repeats one.
#[expect(clippy::print_stdout, reason = "a random test tells its seed")]
pub(crate) fn seed() -> u64 {
    let seed = std::env::var("TOLLGATE_SEED").map_or_else(
        |_| Rng::new().u64(..),
        |text| text.parse().unwrap_or_else(|_| panic!("TOLLGATE_SEED is {text:?}, which is no number")),
    );
    println!("TOLLGATE_SEED={seed}");
    seed
}

struct Open {
    reservation: Reservation,
    estimates: [u64; 3],
    noted: Option<[u64; 3]>,
}

fn charges() -> [PolicyCharge<'static>; 3] {
    [TOKENS.charge("a"), SLIDING.charge(()), BUCKET.charge(())]
}

pub(crate) async fn random_histories_count_what_was_used(place: &Place) {
    let seed = seed();
    let mut rng = Rng::with_seed(seed);
    let mut open: Vec<Open> = Vec::new();
    let mut spent = [0; 3];
    for step in 0..STEPS {
        let amounts = [(); 3].map(|()| rng.u64(0..40));
        match rng.u8(0..8) {
            0..3 => {
                let estimates = [(); 3].map(|()| rng.u64(1..60));
                let [one, two, three] = charges();
                let charges =
                    [one.estimate(estimates[0]), two.estimate(estimates[1]), three.estimate(estimates[2])];
                let outcome = place.guard.reserve(&charges).await;
                if outcome.is_allowed() {
                    open.push(Open { reservation: allowed(outcome), estimates, noted: None });
                }
            }
            3 | 4 if !open.is_empty() => {
                let at = rng.usize(..open.len());
                open[at].reservation.note_each(&amounts).unwrap();
                let noted = open[at].noted.unwrap_or_default();
                open[at].noted = Some([0, 1, 2].map(|at| noted[at].max(amounts[at])));
            }
            kind @ (5..7) if !open.is_empty() => {
                let ended = open.swap_remove(rng.usize(..open.len()));
                if kind == 5 {
                    place.store.lose_answers();
                }
                let settled = ended.reservation.settle_each(&amounts).await;
                place.store.work();
                match settled {
                    Err(unsettled) if rng.bool() => unsettled.retry().await.unwrap(),
                    settled => drop(settled),
                }
                add(&mut spent, amounts);
            }
            7 if !open.is_empty() => {
                let Open { reservation, estimates, noted } = open.swap_remove(rng.usize(..open.len()));
                drop(reservation);
                add(&mut spent, noted.unwrap_or(estimates));
            }
            _ => {}
        }
        place.settle_all().await;
        let mut expected = spent;
        open.iter().for_each(|open| add(&mut expected, open.estimates));
        let outcome = place.guard.peek(&charges()).await;
        let used = [0, 1, 2].map(|at| 10_000 - outcome.decisions()[at].decision().left());
        assert_eq!(
            used,
            expected.map(|units| i64::try_from(units).unwrap()),
            "TOLLGATE_SEED={seed}, step {step}"
        );
    }
}

fn add(sum: &mut [u64; 3], units: [u64; 3]) {
    sum.iter_mut().zip(units).for_each(|(sum, units)| *sum += units);
}
