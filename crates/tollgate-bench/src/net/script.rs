//! The script itself, called by Redis' own benchmark as fast as one connection goes.

use std::{process::Command, time::Duration};

use tollgate_script::{Call, Dialect, Prefix, Replay, Script, take_many_call};

use crate::net::{
    Failure, Goal, Row,
    rig::{self, Rig},
};

const CALLS: usize = 100_000;

#[expect(clippy::cast_precision_loss, reason = "a figure of two digits")]
pub(crate) fn rows(rig: &Rig, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    let one = rig::take_script(0, 1, None)?;
    let four = rig::take_script(0, 4, None)?;
    let replay = Replay::new(0, Duration::from_secs(10));
    let remembered = always_new(rig::take_script(0, 1, Some(replay))?);
    let takes: Vec<_> =
        (0..TOGETHER).map(|caller| rig::take_script(caller, 1, None)).collect::<Result<_, _>>()?;
    let together = always_new(take_many_call(&Prefix::default(), takes.iter(), replay)?);
    let cost = |call: &Call| Ok(1e6 / per_second(rig, call)?);
    let goal = Goal::AtMost { must: 1.8, aim: 1.4 };
    let names = ("script, remembered for a resend ÷ not", "µs");
    show(&Row::compare(names, goal, || cost(&remembered), || cost(&one))?);
    let goal = Goal::AtMost { must: 3.3, aim: 2.5 };
    show(&Row::compare(("script, 4 charges ÷ 1", "µs"), goal, || cost(&four), || cost(&one))?);
    let goal = Goal::AtMost { must: 0.75, aim: 0.6 };
    let names = ("script, a take of 64 in one call ÷ one alone, both remembered", "µs");
    let of_many = || Ok(cost(&together)? / TOGETHER as f64);
    show(&Row::compare(names, goal, of_many, || cost(&remembered))?);
    Ok(())
}

/// How many takes a store over REST puts into one call at most.
const TOGETHER: usize = 64;

/// Makes each call another take: redis-benchmark puts a random number into the name that it is remembered under.
fn always_new(mut call: Call) -> Call {
    let counted = call.keys.len() - 1;
    let name = &call.keys[counted];
    let random = format!("{}{RANDOM}", &name[..name.len() - RANDOM.len()]);
    call.keys = call.keys.iter().take(counted).chain([random.as_str()]).collect();
    call
}

const RANDOM: &str = "__rand_int__";

/// How many of these calls redis-benchmark gets answered a second over one connection, 64 at a time.
pub(crate) fn per_second(rig: &Rig, call: &Call) -> Result<f64, Failure> {
    // It does not look at answers, so that they are answers is seen to here.
    let mut words = vec!["EVAL", call.script.text(Dialect::Redis)];
    let count = call.keys.len().to_string();
    words.push(&count);
    words.extend(call.keys.iter().chain(call.args.iter()));
    rig.redis.run(&words);

    let mut benchmark = Command::new("redis-benchmark");
    // As many takes under way, and as many in all, however many there are in a call.
    let takes = if call.script == Script::TakeMany { TOGETHER } else { 1 };
    let (pipeline, calls) = ((64 / takes).to_string(), (CALLS / takes).to_string());
    benchmark.args(["-p", &rig.redis.port().to_string(), "-c", "1", "-P", &pipeline, "-n", &calls]);
    benchmark.args(["-r", "1000000000", "--csv", "EVALSHA", call.script.sha1(Dialect::Redis)]);
    let output = benchmark.args(&words[2..]).output();
    let output = output.map_err(|error| format!("`redis-benchmark` could not be started: {error}"))?;
    let said = String::from_utf8(output.stdout)?;
    // The command as it was typed, then the figures, the first of which is what is asked for.
    let last = said.lines().last().unwrap_or_default();
    let figure = last.rsplit(',').nth(6).map(|field| field.trim_matches('"').parse());
    match figure {
        Some(Ok(figure)) if output.status.success() => Ok(figure),
        _ => Err(format!("redis-benchmark printed no figure: {said}").into()),
    }
}
