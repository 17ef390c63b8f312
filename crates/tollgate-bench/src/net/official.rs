//! Upstash's own limiter for TypeScript, calls gathered into pipelines, on the same gateway.

use std::{path::Path, process::Stdio};

use tokio::process::Command;

use crate::net::{
    Failure, Goal, Row, rest,
    rig::{Rig, TOKEN},
};

const ROWS: [(usize, &str, Goal); 2] = [
    (
        64,
        "REST, takes ÷ the official TypeScript limiter's, 64 callers",
        Goal::AtLeast { must: 1.3, aim: 2.0 },
    ),
    (
        512,
        "REST, takes ÷ the official TypeScript limiter's, 512 callers",
        Goal::AtLeast { must: 2.0, aim: 3.0 },
    ),
];

/// Prints calls a second.
const THEIRS: &str = include_str!("official.mjs");

pub(crate) fn rows(rig: &Rig, packages: &Path, show: &mut dyn FnMut(&Row)) -> Result<(), Failure> {
    let batched = rig.rest(rig.gateway, true)?;
    for (callers, name, goal) in ROWS {
        let ours = || Ok(rest::takes(rig, &batched, callers)?.per_second);
        let peer = || theirs(rig, packages, callers);
        show(&Row::compare((name, "calls/s"), goal, ours, peer)?);
    }
    Ok(())
}

fn theirs(rig: &Rig, packages: &Path, callers: usize) -> Result<f64, Failure> {
    let mut node = Command::new("node");
    node.args(["--input-type=module", "--eval", THEIRS, &callers.to_string()]).current_dir(packages);
    node.env("UPSTASH_REDIS_REST_URL", format!("http://{}", rig.gateway));
    node.env("UPSTASH_REDIS_REST_TOKEN", TOKEN).env("UPSTASH_DISABLE_TELEMETRY", "1");
    node.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = rig.callers.block_on(async { node.output().await })?;
    let said = String::from_utf8(output.stdout)?;
    said.trim().parse().map_err(|_| format!("node printed no figure: {said:?}").into())
}
