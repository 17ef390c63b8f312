//! Prints one table of ratios, from one run.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::{path::Path, process::ExitCode};

use tollgate_bench::{
    contender::{CONTENDERS, Contender, PEER},
    layer::{ADMITTING, ONE_VISITOR, OTHERS},
    measure::{ROUNDS, interleaved, median, median_ratio},
    net::{self, Row},
    scenario::{SCENARIOS, Scenario},
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => {
            in_memory();
            ExitCode::SUCCESS
        }
        [net, packages, parts @ ..] if net == "net" => over_a_network(Path::new(packages), parts),
        _ => {
            println!(
                "nothing, or `net`, the folder that Upstash's packages are installed in, and perhaps parts of the table"
            );
            ExitCode::FAILURE
        }
    }
}

fn in_memory() {
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

/// Fails if a figure is not what it must be.
fn over_a_network(packages: &Path, parts: &[String]) -> ExitCode {
    println!(
        "One run, {ROUNDS} rounds taking turns: the median of each, and of the ratios round by round.\n"
    );
    println!("{}", Row::heading());
    let (mut rows, mut short) = (0, 0);
    let measured = net::measure(packages, parts, &mut |row| {
        println!("{row}");
        rows += 1;
        short += usize::from(!row.holds());
    });
    if let Err(error) = measured {
        println!("error: {error}");
        return ExitCode::FAILURE;
    }
    println!("\n{} of {rows} rows are what they must be.", rows - short);
    if short == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
