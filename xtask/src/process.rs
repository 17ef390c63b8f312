//! Commands of others: shown before they run, and named when they fail.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::failure::{Failure, Result, failure};
use crate::workspace;

/// The cargo that runs this task, at the top of the workspace.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}

/// Prints the command, runs it, and fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result {
    println!("$ {}", shown(command));
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(failure(format!("`{}` failed ({status})", shown(command)))) }
}

/// What a quick question prints on standard output.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failure(format!("`{}` failed ({}):\n{said}", shown(command), output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| failure(format!("`{}` did not print text", shown(command))))
}

/// Whether a quick question can be asked at all: the program is there and answers.
pub(crate) fn answers(command: &mut Command) -> bool {
    read(command).is_ok()
}

/// Becomes the command, so that Ctrl-C and every other signal reach it alone and its exit code is ours.
#[cfg(unix)]
pub(crate) fn become_command(command: &mut Command) -> Result {
    use std::os::unix::process::CommandExt as _;

    println!("$ {}", shown(command));
    let error = command.exec();
    Err(not_started(command, &error))
}

/// Without `exec` the console sends Ctrl-C to the child as well: waiting for it is enough.
#[cfg(not(unix))]
pub(crate) fn become_command(command: &mut Command) -> Result {
    run(command)
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let envs =
        command.get_envs().filter_map(|(name, value)| Some(format!("{}={}", name.display(), quoted(value?))));
    let program = std::path::Path::new(command.get_program());
    let program = program.file_stem().unwrap_or(command.get_program());
    let args = command.get_args().map(quoted);
    envs.chain([program.display().to_string()]).chain(args).collect::<Vec<_>>().join(" ")
}

fn quoted(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@*{}".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into_owned() } else { format!("'{text}'") }
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    failure(format!("`{}` could not be started: {error}", shown(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = command("/usr/bin/cargo");
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut command("no-such-program-here")).unwrap_err().to_string();
        assert!(error.starts_with("`no-such-program-here` could not be started"), "{error}");
    }

    #[test]
    fn a_failing_command_is_named() {
        let error = read(&mut cargo(&["no-such-subcommand"])).unwrap_err().to_string();
        assert!(error.starts_with("`cargo no-such-subcommand` failed"), "{error}");
        assert!(error.contains("error: no such command"), "{error}");
    }
}
