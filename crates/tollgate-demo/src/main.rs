//! The program: reads its configuration, serves on the loopback interface, and stops in good order.

use std::{
    error::Error,
    fmt,
    future::Future,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use tokio::{net::TcpListener, sync::watch};
use tollgate_demo::{Ahead, App, Command, Config, HELP, router};
use tracing_subscriber::EnvFilter;

/// How long requests that have begun may take once the server is told to stop.
const GRACE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let done = match Command::read(std::env::args_os().skip(1), |name| std::env::var_os(name)) {
        Ok(Command::Help) => print(HELP).map_err(Into::into),
        Ok(Command::Version) => {
            print(concat!("tollgate-demo ", env!("CARGO_PKG_VERSION"), "\n")).map_err(Into::into)
        }
        Ok(Command::Serve(config)) => serve(config),
        Ok(Command::Work(config)) => work(config),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do if even that cannot be written.
            let _ = writeln!(io::stderr(), "tollgate-demo: {}", WithCauses(&*error));
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn serve(config: Config) -> Result<(), Box<dyn Error>> {
    let port = config.port;
    let app = open(config)?;
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|source| BindError { port, source })?;
    let stop = Stop::listen()?;
    print(&format!("listening on http://{}\n", listener.local_addr()?))?;

    let (told, watched) = (stop.told(), app.clone());
    tokio::spawn(async move {
        told.await;
        watched.close();
    });
    if app.does_jobs() {
        let (worker, told) = (app.clone(), stop.told());
        tokio::spawn(async move { worker.serve_jobs(told).await });
    }
    let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service).with_graceful_shutdown(stop.told());
    tokio::select! {
        served = serving => served?,
        () = stop.overdue() => tracing::warn!("some requests were still running and are cut off"),
    }
    tracing::info!("stopped");
    Ok(())
}

#[tokio::main]
async fn work(config: Config) -> Result<(), Box<dyn Error>> {
    let app = open(config)?;
    let stop = Stop::listen()?;
    print("working\n")?;
    tokio::select! {
        () = app.serve_jobs(stop.told()) => {}
        () = stop.overdue() => tracing::warn!("a job was still running and is cut off"),
    }
    tracing::info!("stopped");
    Ok(())
}

/// Begins to log, and puts the application together.
fn open(config: Config) -> Result<App, Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let env = |name: &str| std::env::var(name).ok();
    tracing::info!(store = %config.store, "counting");
    let clock = Ahead::by(config.clock_ahead);
    Ok(App::new(config, tollgate::store(env)?, tollgate::claims(env)?, clock)?)
}

/// Tells everybody who waits that the process was asked to stop.
struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Begins to listen for Ctrl-C and, where there is such a thing, SIGTERM.
    fn listen() -> io::Result<Self> {
        let (tell, told) = watch::channel(false);
        let signal = signal()?;
        tokio::spawn(async move {
            signal.await;
            tracing::info!("stopping");
            let _ = tell.send(true);
        });
        Ok(Self(told))
    }

    fn told(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut told = self.0.clone();
        async move {
            let _ = told.wait_for(|told| *told).await;
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the server's own bound on stopping, no decision of a limit"
    )]
    async fn overdue(&self) {
        self.told().await;
        tokio::time::sleep(GRACE).await;
    }
}

#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A port that cannot be had.
#[derive(Debug)]
struct BindError {
    port: u16,
    source: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.port;
        match self.source.kind() {
            io::ErrorKind::AddrInUse => {
                write!(f, "port {port} is taken: choose another with --port, or --port 0 for any free one")
            }
            _ => write!(f, "cannot listen on port {port}"),
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
