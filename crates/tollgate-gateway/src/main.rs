//! The program: reads its configuration, serves, and stops in good order.

use std::{
    error::Error,
    fmt,
    future::Future,
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
};

use tokio::net::TcpListener;
use tollgate_gateway::{Command, Config, HELP};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let done = match Command::read(std::env::args_os().skip(1), |name| std::env::var_os(name)) {
        Ok(Command::Help) => print(HELP).map_err(Into::into),
        Ok(Command::Version) => {
            print(concat!("tollgate-gateway ", env!("CARGO_PKG_VERSION"), "\n")).map_err(Into::into)
        }
        Ok(Command::Serve(config)) => serve(&config),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do if even that cannot be written.
            let _ = writeln!(io::stderr(), "tollgate-gateway: {}", WithCauses(&*error));
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn serve(config: &Config) -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();

    let (token, is_new) = match &config.token {
        Some(token) => (token.clone(), false),
        None => (random_token()?, true),
    };
    let gateway = config.gateway(&token)?;
    let address = config.listen;
    let listener = TcpListener::bind(address).await.map_err(|source| BindError { address, source })?;
    gateway.greet().await?;
    let stop = signal()?;
    // Nobody else knows a token that was made just now. It is not part of the log.
    let line = if is_new { format!("token {token}\n") } else { String::new() };
    print(&format!("{line}listening on http://{}\n", listener.local_addr()?))?;
    gateway.serve(listener, stop).await?;
    tracing::info!("stopped");
    Ok(())
}

fn random_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Is done on Ctrl-C and, where there is such a thing, SIGTERM.
#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping");
    })
}

#[cfg(not(unix))]
fn signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        tracing::info!("stopping");
    })
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// An address that cannot be had.
#[derive(Debug)]
struct BindError {
    address: SocketAddr,
    source: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        match self.source.kind() {
            io::ErrorKind::AddrInUse => {
                write!(f, "{address} is taken: choose another port with --listen, or port 0 for any free one")
            }
            _ => write!(f, "cannot listen on {address}"),
        }
    }
}

impl Error for BindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// An error and what caused it, in one line.
struct WithCauses<'a>(&'a dyn Error);

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
