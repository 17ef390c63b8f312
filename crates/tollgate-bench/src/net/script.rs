//! The script itself, called by Redis' own benchmark as fast as one connection goes.

use std::{process::Command, time::Duration};

use tollgate_script::{Call, Dialect, Replay};

use crate::net::{
    Failure, Goal, Row,
    rig::{self, Rig},
};

const CALLS: &str = "100000";

pub(crate) fn rows(rig: &Rig, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    let one = rig::take_script(0, 1, None)?;
    let four = rig::take_script(0, 4, None)?;
    let replay = Replay::new(0, Duration::from_secs(10));
    let mut remembered = rig::take_script(0, 1, Some(replay))?;
    // Each call is another take: redis-benchmark puts a random number into the name that it is remembered under.
    let counted = remembered.keys.len() - 1;
    let name = &remembered.keys[counted];
    let random = format!("{}{RANDOM}", &name[..name.len() - RANDOM.len()]);
    remembered.keys = remembered.keys.iter().take(counted).chain([random.as_str()]).collect();
    let cost = |call: &Call| Ok(1e6 / per_second(rig, call)?);
    let goal = Goal::AtMost { must: 1.8, aim: 1.4 };
    let names = ("script, remembered for a resend ÷ not", "µs");
    show(&Row::compare(names, goal, || cost(&remembered), || cost(&one))?);
    let goal = Goal::AtMost { must: 3.3, aim: 2.5 };
    show(&Row::compare(("script, 4 charges ÷ 1", "µs"), goal, || cost(&four), || cost(&one))?);
    Ok(())
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
    benchmark.args(["-p", &rig.redis.port().to_string(), "-c", "1", "-P", "64", "-n", CALLS]);
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
