//! What the server is told when it starts: flags and environment.

use std::{error::Error, ffi::OsString, fmt, path::PathBuf, time::Duration};

use axum_extra::extract::cookie::Key;
use tollgate::StoreKind;
use tollgate_guard::{Limit, Units, Window};
use tollgate_visitor::VisitorSource;
use tollgate_webhook::{Deliveries, GithubSecrets};

use crate::{
    answer::Model,
    jobs::JobsAt,
    pages::Pages,
    policies::{PLAYGROUND_DAY_LIMIT, TOKENS_LIMIT},
};

/// What to do, as the command line says.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the program does one of these")]
pub enum Command {
    /// Serve.
    Serve(Config),
    /// Do what the webhooks that others serve have left to do.
    Work(Config),
    /// Print [`HELP`].
    Help,
    /// Print the version.
    Version,
}

/// How to serve, or to work.
#[derive(Debug)]
pub struct Config {
    /// The port on the loopback interface; 0 is any free one.
    pub port: u16,
    /// Where visitors' addresses come from.
    pub visitor: VisitorSource,
    /// The playground's one budget for everybody.
    pub playground_day: Limit,
    /// The one budget of tokens for everybody.
    pub tokens_day: Limit,
    /// What session cookies are signed with.
    pub session_key: Key,
    /// Where the pages come from.
    pub pages: Pages,
    /// What words the answers; without one they are the pages' own words.
    pub model: Option<Model>,
    /// What GitHub's webhooks may be signed with.
    pub webhook_secrets: Option<GithubSecrets>,
    /// How long a delivery is held by whoever works on it.
    pub delivery_lease: Window,
    /// How far the clock is ahead of the system's.
    pub clock_ahead: Duration,
    /// Where what webhooks ask for waits for a worker.
    pub jobs: JobsAt,
    /// Whether the server itself does what webhooks leave to do.
    pub does_jobs: bool,
    /// Whether clients may switch the store off, and act as other visitors at this very machine.
    pub has_fault_switch: bool,
    /// What kind of store counts, to say so.
    pub store: StoreKind,
}

/// What `--help` prints.
pub const HELP: &str = "\
A documentation site whose expensive paths are metered by Tollgate.

Usage: tollgate-demo [--port N] [--jobs]
       tollgate-demo worker

  worker       update the pages that webhooks name, for all servers that share a Redis
  --jobs       update them beside serving, without a worker; on memory that is so in any case
  --port N     port on 127.0.0.1; 0 takes any free one (default: 3000)
  --help       print this
  --version    print the version

Environment:
  TOLLGATE_DEMO_VISITOR         where visitors' addresses come from
                                (default: cloudflare peers=loopback missing=local)
                                others: peer
                                        x-forwarded-for hops=1 peers=loopback
                                        header:x-real-ip peers=loopback
  TOLLGATE_DEMO_PLAYGROUND_DAY  messages a day in the playground, for everybody together (default: 200)
  TOLLGATE_DEMO_TOKENS_DAY      tokens a day that all answers together may use (default: 1000000)
  TOLLGATE_DEMO_SESSION_KEY     at least 64 bytes that sign session cookies
                                (default: random, so that sessions end with the process)
  TOLLGATE_DEMO_PAGES           a folder of .md files to serve instead of the built-in pages
  TOLLGATE_DEMO_FAULTS          off: clients cannot switch the store off, replay a webhook, nor act as
                                other visitors at this machine (default: on)
  TOLLGATE_DEMO_LEASE           how long a delivery is held by whoever works on it (default: 5 m)
  TOLLGATE_DEMO_CLOCK_AHEAD     how far this server's clock is ahead, to see how a day ends; the same for all
                                that share a Redis (default: not at all)
  GITHUB_WEBHOOK_SECRET         what GitHub signs its webhooks with; during a rotation several, parted by
                                blanks (default: none, so that only this server's own replays are genuine)
  OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL
                                an OpenAI-compatible endpoint that words the answers, its key if it has one, and
                                the model (default: answers are the pages' own words; with a key alone,
                                https://api.openai.com/v1; gpt-4o-mini)
  UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN, or REDIS_URL
                                the Redis to count in, with other processes (default: memory)
  RUST_LOG                      what is logged to standard error (default: info)
";

/// Whose protocol it is.
const DEFAULT_MODEL_URL: &str = "https://api.openai.com/v1";
const DEFAULT_MODEL: &str = "gpt-4o-mini";

/// Development as it is usual: nothing in front, or a tunnel on this machine.
const DEFAULT_VISITOR: &str = "cloudflare peers=loopback missing=local";

const DEFAULT_PORT: u16 = 3000;

impl Command {
    /// Reads flags, without the program's name, and the environment.
    ///
    /// # Errors
    /// If one of them cannot be understood; the text names it.
    pub fn read(
        flags: impl IntoIterator<Item = OsString>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let (mut port, mut is_worker, mut does_jobs) = (DEFAULT_PORT, false, false);
        let mut parser = lexopt::Parser::from_args(flags);
        while let Some(flag) = parser.next()? {
            match flag {
                lexopt::Arg::Long("port") => port = lexopt::ValueExt::parse(&parser.value()?)?,
                lexopt::Arg::Value(ref word) if word == "worker" && !is_worker => is_worker = true,
                lexopt::Arg::Long("jobs") => does_jobs = true,
                lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Self::Help),
                lexopt::Arg::Long("version") | lexopt::Arg::Short('V') => return Ok(Self::Version),
                lexopt::Arg::Long(_) | lexopt::Arg::Short(_) | lexopt::Arg::Value(_) => {
                    return Err(flag.unexpected().into());
                }
            }
        }
        let mut config = Config::from_environment(port, variable)?;
        config.does_jobs |= does_jobs;
        match (is_worker, &config.jobs) {
            (false, _) => Ok(Self::Serve(config)),
            (true, JobsAt::Memory) => Err(ConfigError::NothingShared),
            (true, _) => Ok(Self::Work(config)),
        }
    }
}

impl Config {
    /// The configuration without any environment, on any free port.
    ///
    /// # Errors
    /// Only if the system has no random bytes for a key.
    pub fn development() -> Result<Self, ConfigError> {
        Self::from_environment(0, |_| None)
    }

    fn from_environment(port: u16, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let text = |name: &'static str| match variable(name).map(OsString::into_string) {
            None => Ok(None),
            Some(Ok(text)) if text.trim().is_empty() => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(_)) => Err(ConfigError::variable(name, "it is not UTF-8")),
        };

        let name = "TOLLGATE_DEMO_VISITOR";
        let visitor = text(name)?.unwrap_or_else(|| DEFAULT_VISITOR.to_owned());
        let visitor = visitor.parse().map_err(|error| ConfigError::variable(name, error))?;

        let name = "TOLLGATE_DEMO_PLAYGROUND_DAY";
        let playground_day = match text(name)? {
            None => PLAYGROUND_DAY_LIMIT,
            Some(text) => {
                let quota = quota(&text, "messages, 0 closes the playground");
                PLAYGROUND_DAY_LIMIT.with_quota(quota.map_err(|error| ConfigError::variable(name, error))?)
            }
        };

        let name = "TOLLGATE_DEMO_TOKENS_DAY";
        let tokens_day = match text(name)? {
            None => TOKENS_LIMIT,
            Some(text) => {
                let quota = quota(&text, "tokens, 0 closes all that answers");
                TOKENS_LIMIT.with_quota(quota.map_err(|error| ConfigError::variable(name, error))?)
            }
        };

        let name = "TOLLGATE_DEMO_LEASE";
        let delivery_lease = match text(name)? {
            None => Deliveries::LEASE,
            Some(text) => text.trim().parse().map_err(|error| ConfigError::variable(name, error))?,
        };

        let name = "TOLLGATE_DEMO_CLOCK_AHEAD";
        let clock_ahead = match text(name)? {
            None => Duration::ZERO,
            Some(text) => {
                let ahead: Window =
                    text.trim().parse().map_err(|error| ConfigError::variable(name, error))?;
                Duration::from_millis(ahead.ms())
            }
        };

        let name = "GITHUB_WEBHOOK_SECRET";
        let webhook_secrets = match text(name)? {
            None => None,
            Some(text) => {
                let secrets = GithubSecrets::new(text.split_whitespace());
                Some(secrets.map_err(|error| ConfigError::variable(name, error))?)
            }
        };

        let name = "TOLLGATE_DEMO_SESSION_KEY";
        let session_key = match text(name)? {
            None => Key::try_generate().ok_or(ConfigError::NoRandomBytes)?,
            Some(text) => {
                Key::try_from(text.as_bytes()).map_err(|error| ConfigError::variable(name, error))?
            }
        };

        let name = "TOLLGATE_DEMO_FAULTS";
        let has_fault_switch = match text(name)?.as_deref() {
            None | Some("on") => true,
            Some("off") => false,
            Some(_) => return Err(ConfigError::variable(name, "it is either `on` or `off`")),
        };

        let (url, key) = (text("OPENAI_BASE_URL")?, text("OPENAI_API_KEY")?);
        let model = match (&url, &key) {
            (None, None) => None,
            _ => {
                let url = url.as_deref().unwrap_or(DEFAULT_MODEL_URL);
                let name = text("OPENAI_MODEL")?.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
                let model = Model::new(url, key.as_deref(), &name);
                Some(model.map_err(|error| ConfigError::variable("OPENAI_BASE_URL", error))?)
            }
        };

        let pages = variable("TOLLGATE_DEMO_PAGES").filter(|folder| !folder.is_empty());
        let pages = pages.map_or(Pages::Embedded, |folder| Pages::Folder(PathBuf::from(folder)));
        let lookup = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        let jobs = JobsAt::of(lookup);
        Ok(Self {
            port,
            visitor,
            playground_day,
            tokens_day,
            session_key,
            pages,
            model,
            webhook_secrets,
            delivery_lease,
            clock_ahead,
            does_jobs: matches!(jobs, JobsAt::Memory),
            jobs,
            has_fault_switch,
            store: StoreKind::of(lookup),
        })
    }
}

fn quota(text: &str, of: &str) -> Result<Units, Box<dyn Error + Send + Sync>> {
    let quota = text.trim().parse().map_err(|_| format!("it is a whole number of {of}"))?;
    Ok(Units::try_new(quota)?)
}

/// Flags or environment that cannot be understood.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// A flag.
    Flag(lexopt::Error),
    /// A variable of the environment.
    Variable {
        /// Which.
        name: &'static str,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The system has no random bytes to make a session key of.
    NoRandomBytes,
    /// A worker without a Redis that it shares with the servers.
    NothingShared,
}

impl ConfigError {
    fn variable(name: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Variable { name, source: source.into() }
    }
}

impl From<lexopt::Error> for ConfigError {
    fn from(error: lexopt::Error) -> Self {
        Self::Flag(error)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Its text holds its source already.
            Self::Flag(error) => write!(f, "{error}; --help lists the flags"),
            Self::Variable { name, .. } => write!(f, "the variable {name} cannot be understood"),
            Self::NothingShared => f.write_str(
                "a worker needs the Redis of the servers it works for: set REDIS_URL, or UPSTASH_REDIS_REST_URL and \
                 UPSTASH_REDIS_REST_TOKEN; on memory the server works itself",
            ),
            Self::NoRandomBytes => f.write_str(
                "the system gives no random bytes for a session key: set TOLLGATE_DEMO_SESSION_KEY",
            ),
        }
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Variable { source, .. } => Some(&**source),
            Self::Flag(_) | Self::NoRandomBytes | Self::NothingShared => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flags: &[&str], variables: &[(&str, &str)]) -> Result<Config, String> {
        let variable = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
        };
        match Command::read(flags.iter().map(OsString::from), variable) {
            Ok(Command::Serve(config)) => Ok(config),
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => {
                let source = error.source().map(ToString::to_string).unwrap_or_default();
                Err(format!("{error}: {source}"))
            }
        }
    }

    #[test]
    fn nothing_said_is_development() {
        let config = read(&[], &[]).unwrap();
        assert_eq!((config.port, config.playground_day.quota().get()), (3000, 200));
        assert_eq!((config.tokens_day.quota().get(), config.delivery_lease), (1_000_000, Deliveries::LEASE));
        assert!(
            config.webhook_secrets.is_none() && matches!(config.jobs, JobsAt::Memory) && config.does_jobs
        );
        let redis = [("REDIS_URL", "redis://127.0.0.1")];
        assert!(!read(&[], &redis).unwrap().does_jobs && read(&["--jobs"], &redis).unwrap().does_jobs);
        assert_eq!(config.playground_day.period(), Window::DAY);
        assert_eq!(config.pages, Pages::Embedded);
        assert!(config.has_fault_switch && config.model.is_none());
        let config = read(&[], &[("OPENAI_API_KEY", "secret")]).unwrap();
        assert_eq!(config.model.as_ref().map(Model::name), Some(DEFAULT_MODEL));
    }

    #[test]
    fn flags_and_environment_are_read() {
        let key = "k".repeat(64);
        let config = read(
            &["--port=0"],
            &[
                ("TOLLGATE_DEMO_VISITOR", "peer"),
                ("TOLLGATE_DEMO_PLAYGROUND_DAY", "7"),
                ("TOLLGATE_DEMO_TOKENS_DAY", "8"),
                ("TOLLGATE_DEMO_LEASE", "90s"),
                ("GITHUB_WEBHOOK_SECRET", " kkk-the-new-secret-of-them kkk-the-old-secret-of-them"),
                ("TOLLGATE_DEMO_SESSION_KEY", &key),
                ("TOLLGATE_DEMO_PAGES", "pages"),
                ("TOLLGATE_DEMO_FAULTS", "off"),
                ("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1/"),
                ("OPENAI_API_KEY", "kkk-secret"),
                ("OPENAI_MODEL", "small"),
            ],
        )
        .unwrap();
        assert_eq!((config.port, config.playground_day.quota().get()), (0, 7));
        assert_eq!((config.tokens_day.quota().get(), config.delivery_lease.ms()), (8, 90_000));
        assert_eq!(format!("{:?}", config.webhook_secrets), "Some(GithubSecrets(2))");
        assert_eq!(config.pages, Pages::Folder("pages".into()));
        assert!(!config.has_fault_switch);
        assert_eq!(config.model.as_ref().map(Model::name), Some("small"));
        assert_eq!(config.session_key, Key::from(key.as_bytes()));
        assert!(!format!("{config:?}").contains("kkk"), "a key is never shown");
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        for (flags, variables, named) in [
            (&["--port", "65536"][..], &[][..], "65536"),
            (&["--port"], &[], "--port"),
            (&["--prot", "1"], &[], "--prot"),
            (&["3000"], &[], "3000"),
            (&[], &[("TOLLGATE_DEMO_VISITOR", "nobody")], "TOLLGATE_DEMO_VISITOR"),
            (&[], &[("TOLLGATE_DEMO_VISITOR", "x-forwarded-for hops=1")], "TOLLGATE_DEMO_VISITOR"),
            (&[], &[("TOLLGATE_DEMO_PLAYGROUND_DAY", "-1")], "TOLLGATE_DEMO_PLAYGROUND_DAY"),
            (&[], &[("TOLLGATE_DEMO_PLAYGROUND_DAY", "9007199254740992")], "9007199254740991"),
            (&[], &[("TOLLGATE_DEMO_TOKENS_DAY", "many")], "TOLLGATE_DEMO_TOKENS_DAY"),
            (&[], &[("TOLLGATE_DEMO_LEASE", "long")], "TOLLGATE_DEMO_LEASE"),
            (&[], &[("GITHUB_WEBHOOK_SECRET", "short")], "GITHUB_WEBHOOK_SECRET"),
            (&["worker"], &[], "REDIS_URL"),
            (&["worker", "worker"], &[("REDIS_URL", "redis://127.0.0.1")], "worker"),
            (&[], &[("TOLLGATE_DEMO_SESSION_KEY", "short")], "TOLLGATE_DEMO_SESSION_KEY"),
            (&[], &[("TOLLGATE_DEMO_FAULTS", "no")], "TOLLGATE_DEMO_FAULTS"),
            (&[], &[("OPENAI_BASE_URL", "localhost")], "OPENAI_BASE_URL"),
            (&[], &[("OPENAI_API_KEY", "a\nb")], "OPENAI_API_KEY"),
        ] {
            let error = read(flags, variables).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }

    #[test]
    fn a_worker_is_for_what_is_shared() {
        let read = |pairs: &'static [(&str, &str)]| {
            let variable = move |name: &str| {
                pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
            };
            match Command::read([OsString::from("worker")], variable) {
                Ok(Command::Work(config)) => Some(config.jobs),
                _ => None,
            }
        };
        let at = read(&[("REDIS_URL", "redis://:a-secret@127.0.0.1")]).unwrap();
        assert_eq!(format!("{at:?}"), "Redis");
        let at =
            read(&[("KV_REST_API_URL", "https://a.example"), ("KV_REST_API_TOKEN", "a-secret")]).unwrap();
        assert_eq!(format!("{at:?}"), "Upstash");
        assert!(read(&[]).is_none());
    }

    #[test]
    fn help_names_every_variable() {
        for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", DEFAULT_MODEL_URL, DEFAULT_MODEL] {
            assert!(HELP.contains(name), "{name}");
        }
        assert!(HELP.contains("GITHUB_WEBHOOK_SECRET"));
        for name in ["VISITOR", "PLAYGROUND_DAY", "TOKENS_DAY", "SESSION_KEY", "PAGES", "FAULTS", "LEASE"] {
            assert!(HELP.contains(&format!("TOLLGATE_DEMO_{name}")), "{name}");
        }
        assert!(HELP.contains(DEFAULT_VISITOR));
        assert!(matches!(Command::read([OsString::from("-h")], |_| None), Ok(Command::Help)));
        assert!(matches!(Command::read([OsString::from("-V")], |_| None), Ok(Command::Version)));
    }
}
