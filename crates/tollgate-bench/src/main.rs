//! Prints one table of ratios, from one run.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use tollgate_bench::{
    contender::{CONTENDERS, Contender, PEER},
    layer::{ADMITTING, ONE_VISITOR, OTHERS},
    measure::{ROUNDS, interleaved, median, median_ratio},
    scenario::{SCENARIOS, Scenario},
};

fn main() {
    println!(
        "One run, one thread, {ROUNDS} rounds taking turns: the median of each, and of the ratios round by round."
    );
    println!(
        "Nanoseconds differ from machine to machine and from hour to hour; the ratios are what to read.\n"
    );
    println!("{:<24} {:<37} {:>9} {:>9}", "scenario", "contender", "ns/check", "ratio");
    for scenario in &SCENARIOS {
        print_rows(scenario, PEER, &CONTENDERS);
    }
    print_rows(&ONE_VISITOR, ADMITTING, &OTHERS);
}

fn print_rows(scenario: &Scenario, peer: Contender, others: &[Contender]) {
    let all = || [peer].into_iter().chain(others.iter().copied());
    let mut checks: Vec<_> = all().map(|contender| (contender.make)(scenario)).collect();
    let figures = interleaved(scenario, &mut checks);
    for (at, (contender, figures_of)) in all().zip(&figures).enumerate() {
        let (name, ratio) = (if at == 0 { scenario.name } else { "" }, median_ratio(figures_of, &figures[0]));
        println!("{name:<24} {:<37} {:>9.1} {ratio:>9.2}", contender.name, median(*figures_of));
    }
}
