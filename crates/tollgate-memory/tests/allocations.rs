//! What is allocated: nothing by a warm check, and nothing that grows.

use tollgate_core::{Charging, Limit, Timestamp, Window};
use tollgate_memory::MemoryStore;
use tollgate_store::{Charge, Key, KeyParts, Name, Store, Take};

const NOON: Timestamp = Timestamp::from_unix_ms(86_400_000 * 20_000 + 43_200_000);

#[test]
fn a_take_of_known_keys_allocates_nothing() {
    let store = MemoryStore::new();
    let visitor = String::from("2001:db8:0:0::/64");
    let limits = [
        Limit::fixed(1_000, Window::MINUTE),
        Limit::sliding(1_000, Window::MINUTE),
        Limit::bucket(1_000, 1, Window::MINUTE),
        // Refuses after the first.
        Limit::fixed(1, Window::DAY),
    ];
    let names = ["a", "b", "c", "d"].map(Name::new);
    let warm_up: Vec<_> = (0..4).map(|at| (at, ("docs", &visitor, 7u32).into_parts())).collect();
    for (at_key, parts) in &warm_up {
        let charge = Charge::new(Key::new(names[*at_key], parts), limits[*at_key]);
        let _ = store.take(&Take { charges: &[charge], now: NOON }).unwrap();
    }

    let check = |pick: &[usize], admitted: bool| {
        let allocated = allocation_counter::measure(|| {
            for step in 0..100 {
                let parts = ("docs", &visitor, 7u32).into_parts();
                let charges = [0, 1, 2, 3].map(|at| Charge::new(Key::new(names[at], &parts), limits[at]));
                let picked: [Charge<'_>; 4] = std::array::from_fn(|at| charges[pick[at % pick.len()]]);
                let take = Take { charges: &picked[..pick.len()], now: NOON.saturating_add_ms(step) };
                let decisions = store.take_now(&take).unwrap().unwrap();
                assert_eq!(decisions.is_admitted(), admitted);
            }
        });
        assert_eq!(allocated.count_total, 0, "{pick:?}");
    };
    for (pick, admitted) in [
        (&[0][..], true),
        (&[1], true),
        (&[2], true),
        (&[3], false),
        (&[0, 1, 2], true),
        (&[0, 1, 2, 3], false),
    ] {
        check(pick, admitted);
    }

    // Peeking at keys that are not there allocates nothing either.
    let allocated = allocation_counter::measure(|| {
        let parts = "nobody".into_parts();
        let charge = Charge::new(Key::new(names[0], &parts), limits[0]);
        let charges = [Charge { charging: Charging::Never, ..charge }];
        assert!(store.take(&Take { charges: &charges, now: NOON }).unwrap().is_admitted());
    });
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn memory_is_taken_at_the_start_and_stays_flat() {
    let mut stores = Vec::with_capacity(2);
    for (capacity, most) in [(10_000, 180), (MemoryStore::EXACT_UP_TO + 1, 130)] {
        let mut kept = 0;
        // At first none, then as many as fit, then three times as many.
        for fresh in [0, capacity as u64, 3 * capacity as u64] {
            let allocated = allocation_counter::measure(|| {
                if fresh == 0 {
                    stores.push(MemoryStore::with_capacity(capacity).unwrap());
                }
                for visitor in 0..fresh {
                    let parts = (visitor, "a-key-of-42-bytes-all-in-all").into_parts();
                    let charge =
                        Charge::new(Key::new(Name::new("ask"), &parts), Limit::fixed(3, Window::DAY));
                    let take = Take { charges: &[charge], now: NOON.saturating_add_ms(visitor) };
                    let _ = stores.last().unwrap().take(&take).unwrap();
                }
            });
            kept += allocated.bytes_current;
            assert!(kept / i64::try_from(capacity).unwrap() <= most, "{kept} bytes for {capacity} keys");
        }
    }
}
