//! The same pairs, measured by criterion: for looking at one of them closely.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tollgate_bench::{
    contender::{CONTENDERS, PEER},
    scenario::SCENARIOS,
};

fn take(criterion: &mut Criterion) {
    for scenario in &SCENARIOS {
        let mut group = criterion.benchmark_group(scenario.name);
        for contender in [PEER].iter().chain(&CONTENDERS) {
            let mut check = (contender.make)(scenario);
            let mut at = 0;
            group.bench_function(BenchmarkId::from_parameter(contender.name), |bencher| {
                bencher.iter(|| {
                    at = (at + 1) % scenario.keys;
                    black_box(check(black_box(at)))
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, take);
criterion_main!(benches);
