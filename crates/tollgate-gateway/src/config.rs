//! What the program is told when it starts: flags and environment.

use std::{error::Error, ffi::OsString, fmt, net::SocketAddr};

use crate::{Gateway, StartError};

/// What to do, as the command line says.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the program does one of these")]
pub enum Command {
    /// Serve.
    Serve(Config),
    /// Print [`HELP`].
    Help,
    /// Print the version.
    Version,
}

/// How to serve.
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The token, if one was given.
    pub token: Option<String>,
    redis_url: String,
    read_only_token: Option<String>,
    most_connections: usize,
}

/// What `--help` prints.
pub const HELP: &str = "\
The Upstash REST API in front of any Redis.

Usage: tollgate-gateway [--redis URL] [--listen ADDRESS] [--token TOKEN] [--read-only-token TOKEN]
                        [--most-connections N]

  --redis URL              redis://[user][:password@]host[:port][/database], rediss:// for TLS,
                           or unix:///path for a socket
                           (default: redis://127.0.0.1:6379)
  --listen ADDRESS         address and port; port 0 takes any free one (default: 127.0.0.1:8079)
                           An address that other machines reach needs tokens of at least 32 characters.
  --token TOKEN            what clients prove themselves with
                           (default: a random one, which is printed)
  --read-only-token TOKEN  what clients that only read prove themselves with (default: there is none)
  --most-connections N     how many clients may be connected at once; the next one waits (default: 900)
                           Each needs a file: see `ulimit -n`.
  --help                   print this
  --version                print the version

Environment, where a flag is not given; other users of this machine can see flags:
  REDIS_URL                         --redis
  TOLLGATE_GATEWAY_LISTEN           --listen
  TOLLGATE_GATEWAY_TOKEN            --token
  TOLLGATE_GATEWAY_READ_ONLY_TOKEN  --read-only-token
  TOLLGATE_GATEWAY_MOST_CONNECTIONS --most-connections
  RUST_LOG                          what is logged to standard error (default: info)
";

const DEFAULT_REDIS: &str = "redis://127.0.0.1:6379";
const DEFAULT_LISTEN: &str = "127.0.0.1:8079";

/// Each flag and the variable that stands in for it.
const FLAGS: [(&str, &str); 5] = [
    ("redis", "REDIS_URL"),
    ("listen", "TOLLGATE_GATEWAY_LISTEN"),
    ("token", "TOLLGATE_GATEWAY_TOKEN"),
    ("read-only-token", "TOLLGATE_GATEWAY_READ_ONLY_TOKEN"),
    ("most-connections", "TOLLGATE_GATEWAY_MOST_CONNECTIONS"),
];

impl Command {
    /// Reads flags, without the program's name, and the environment.
    ///
    /// # Errors
    /// If one of them cannot be understood; the text names it, and says nothing of what it holds.
    pub fn read(
        flags: impl IntoIterator<Item = OsString>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let mut given = FLAGS.map(|_| None);
        let mut parser = lexopt::Parser::from_args(flags);
        while let Some(flag) = parser.next()? {
            match flag {
                lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Self::Help),
                lexopt::Arg::Long("version") | lexopt::Arg::Short('V') => return Ok(Self::Version),
                lexopt::Arg::Long(name) => match FLAGS.iter().position(|(flag, _)| *flag == name) {
                    Some(index) => given[index] = Some((FLAGS[index].0, parser.value()?)),
                    None => return Err(flag.unexpected().into()),
                },
                // What stands alone may be a token that lost its flag: it is not repeated.
                lexopt::Arg::Value(_) => return Err(ConfigError::Stray),
                lexopt::Arg::Short(_) => return Err(flag.unexpected().into()),
            }
        }
        for (given, (_, name)) in given.iter_mut().zip(FLAGS) {
            if given.is_none() {
                *given = variable(name).filter(|value| !value.is_empty()).map(|value| (name, value));
            }
        }
        let texts = given.map(|given| {
            given
                .map(|(name, value)| {
                    let text =
                        value.into_string().map_err(|_| ConfigError::Value { name, wants: "UTF-8" })?;
                    Ok::<_, ConfigError>((name, text.trim().to_owned()))
                })
                .transpose()
        });
        let [redis, listen, token, read_only_token, most_connections] = texts;
        let (name, listen) = listen?.unwrap_or_else(|| ("listen", DEFAULT_LISTEN.to_owned()));
        Ok(Self::Serve(Config {
            listen: listen
                .parse()
                .map_err(|_| ConfigError::Value { name, wants: "an address and a port: 127.0.0.1:8079" })?,
            redis_url: redis?.map_or_else(|| DEFAULT_REDIS.to_owned(), |(_, url)| url),
            token: token?.map(|(_, token)| token),
            read_only_token: read_only_token?.map(|(_, token)| token),
            most_connections: match most_connections? {
                None => Gateway::MOST_CONNECTIONS,
                Some((name, text)) => match text.parse() {
                    Ok(number @ 1..) => number,
                    _ => return Err(ConfigError::Value { name, wants: "a number, at least 1" }),
                },
            },
        }))
    }
}

impl Config {
    /// The gateway, asking for `token`.
    ///
    /// # Errors
    /// As [`GatewayBuilder::build`](crate::GatewayBuilder::build), and if it may not listen where it should.
    pub fn gateway(&self, token: &str) -> Result<Gateway, StartError> {
        let mut builder =
            Gateway::builder(&self.redis_url).token(token).most_connections(self.most_connections);
        if let Some(token) = &self.read_only_token {
            builder = builder.read_only_token(token);
        }
        let gateway = builder.build()?;
        gateway.may_listen_on(self.listen)?;
        Ok(gateway)
    }
}

impl fmt::Debug for Config {
    /// Without what is secret: the tokens, and the URL with its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// Flags or environment that cannot be understood.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// A flag.
    Flag(lexopt::Error),
    /// An argument that belongs to no flag.
    Stray,
    /// The value of a flag or a variable.
    Value {
        /// The flag, without its dashes, or the variable.
        name: &'static str,
        /// What it should be.
        wants: &'static str,
    },
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
            Self::Stray => {
                f.write_str("there is an argument that belongs to no flag; --help lists the flags")
            }
            Self::Value { name, wants } if name.starts_with(char::is_lowercase) => {
                write!(f, "--{name} wants {wants}")
            }
            Self::Value { name, wants } => write!(f, "the variable {name} wants {wants}"),
        }
    }
}

impl Error for ConfigError {}

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
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn nothing_said_is_this_machine() {
        let config = read(&[], &[]).unwrap();
        assert!(config.listen.ip().is_loopback());
        assert_eq!((&*config.redis_url, &config.token), (DEFAULT_REDIS, &None));
        assert_eq!(config.most_connections, Gateway::MOST_CONNECTIONS);
        assert!(HELP.contains(&format!("(default: {})", Gateway::MOST_CONNECTIONS)));
        assert!(HELP.contains(DEFAULT_REDIS) && HELP.contains(DEFAULT_LISTEN));
    }

    #[test]
    fn flags_go_before_the_environment() {
        let variables = [
            ("REDIS_URL", "redis://env"),
            ("TOLLGATE_GATEWAY_LISTEN", "[::1]:1"),
            ("TOLLGATE_GATEWAY_TOKEN", "env-token\n"),
            ("TOLLGATE_GATEWAY_READ_ONLY_TOKEN", "env-read"),
        ];
        let config = read(&[], &variables).unwrap();
        assert_eq!((&*config.redis_url, &*config.listen.to_string()), ("redis://env", "[::1]:1"));
        assert_eq!(config.token.as_deref(), Some("env-token"));
        assert_eq!(config.read_only_token.as_deref(), Some("env-read"));
        let flags =
            ["--redis=redis://flag", "--listen", "127.0.0.1:2", "--token=t", "--read-only-token", "r"];
        let config = read(&flags, &variables).unwrap();
        assert_eq!((&*config.redis_url, &*config.listen.to_string()), ("redis://flag", "127.0.0.1:2"));
        assert_eq!((config.token.as_deref(), config.read_only_token.as_deref()), (Some("t"), Some("r")));
        assert!(read(&[], &[("TOLLGATE_GATEWAY_TOKEN", "")]).unwrap().token.is_none());
    }

    #[test]
    fn what_cannot_be_understood_is_named_and_nothing_secret_is_said() {
        for (flags, variables, named) in [
            (&["--listen", "localhost"][..], &[][..], "--listen"),
            (&["--listen"], &[], "--listen"),
            (&["--most-connections=0"], &[], "--most-connections"),
            (&[], &[("TOLLGATE_GATEWAY_MOST_CONNECTIONS", "many")], "TOLLGATE_GATEWAY_MOST_CONNECTIONS"),
            (&["--tokn=secret"], &[], "--tokn"),
            (&["secret"], &[], "--help"),
            (&["--token", "a", "secret"], &[], "--help"),
            (&["-x"], &[], "-x"),
            (&[], &[("TOLLGATE_GATEWAY_LISTEN", "8079")], "TOLLGATE_GATEWAY_LISTEN"),
        ] {
            let error = read(flags, variables).unwrap_err();
            assert!(error.contains(named) && !error.contains("secret"), "{error}");
        }
        let config = read(&["--token=secret", "--redis=redis://:secret@h", "--read-only-token=secret2"], &[]);
        let config = config.unwrap();
        assert!(!format!("{config:?}").contains("secret"));
        assert!(!format!("{:?}", config.gateway("secret").unwrap()).contains("secret"));
    }

    #[test]
    fn what_cannot_start_says_why_and_nothing_secret() {
        let strong = "0123456789abcdef0123456789abcdef";
        for (flags, token, named) in [
            (&["--listen=0.0.0.0:0"][..], "secret", "0.0.0.0:0"),
            (&["--listen=0.0.0.0:0", "--read-only-token=secret"], strong, "32 characters"),
            (&["--read-only-token=secret"], "secret", "differ"),
            (&[], "sec ret", "visible ASCII"),
            (&["--redis=secret"], "t", "redis://"),
            #[cfg(not(feature = "tls"))]
            (&["--redis=rediss://secret"], "t", "redis://"),
        ] {
            let error = read(flags, &[]).unwrap().gateway(token).unwrap_err();
            let source = error.source().map(ToString::to_string).unwrap_or_default();
            let text = format!("{error}: {source}");
            assert!(text.contains(named) && !text.contains("sec"), "{text}");
        }
        assert!(read(&["--listen=0.0.0.0:0"], &[]).unwrap().gateway(strong).is_ok());
    }

    #[test]
    fn help_names_every_flag_and_variable() {
        for (flag, variable) in FLAGS {
            assert!(HELP.contains(&format!("--{flag} ")) && HELP.contains(variable), "{flag}");
        }
        assert!(matches!(Command::read([OsString::from("-h")], |_| None), Ok(Command::Help)));
        assert!(matches!(Command::read([OsString::from("-V")], |_| None), Ok(Command::Version)));
    }
}
