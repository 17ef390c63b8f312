//! Prints one table of ratios, from one run.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use tollgate_bench::{
    contender::{CONTENDERS, PEER},
    measure::{ROUNDS, interleaved, median, median_ratio},
    scenario::SCENARIOS,
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
        let mut checks: Vec<_> =
            [PEER].iter().chain(&CONTENDERS).map(|contender| (contender.make)(scenario)).collect();
        let figures = interleaved(scenario, &mut checks);
        let [peer, contenders @ ..] = &figures[..] else { continue };
        println!("{:<24} {:<37} {:>9.1} {:>9.2}", scenario.name, PEER.name, median(*peer), 1.0);
        for (contender, figures) in CONTENDERS.iter().zip(contenders) {
            let ratio = median_ratio(figures, peer);
            println!("{:<24} {:<37} {:>9.1} {:>9.2}", "", contender.name, median(*figures), ratio);
        }
    }
}
