//! Responsible for the life of a server: from the address it is bound to, over models that are loaded again, to its orderly end.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use negmm::{Error, Result};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::app::{App, router};
use crate::limits::Limits;
use crate::listener::Limited;
use crate::metrics::Metrics;
use crate::models::Models;
use crate::token::Token;
use crate::work::{self, Queue};

/// What a server is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model files.
    pub models: Vec<PathBuf>,
    /// Where it listens.
    pub address: SocketAddr,
    /// A file with the token that requests must carry.
    pub token_file: Option<PathBuf>,
    /// Threads that predict, 0 for all cores.
    pub threads: usize,
    /// Its limits.
    pub limits: Limits,
}

/// What a server says while it runs.
#[derive(Clone, Debug)]
pub enum Event {
    /// It listens there and serves models of these names.
    Listening(SocketAddr, Vec<String>),
    /// Models were loaded again; these could not be, and those that served before go on.
    Reloaded(Vec<Error>),
    /// It was told to stop and answers what is under way.
    Stopping,
}

/// Serves until the program is told to stop; `say` hears of it.
///
/// # Errors
/// When a model cannot be read, a limit makes no sense or the address is taken; and when requests were still under way at the end of
/// the time for them.
pub fn run(settings: &Settings, say: impl Fn(Event) + Send + Sync + 'static) -> Result<()> {
    settings.limits.check()?;
    let token = settings.token_file.as_deref().map(Token::read).transpose()?;
    let models = Models::load(&settings.models)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if settings.threads == 0 { cores() } else { settings.threads };
    let (queue, metrics) = (Arc::new(Queue::default()), Arc::new(Metrics::default()));
    let failed = |error: std::io::Error| Error::options(format!("the server cannot be started: {error}"));
    let workers = work::start(&queue, threads, &settings.limits, &metrics).map_err(failed)?;
    let app = Arc::new(App {
        models,
        queue: queue.clone(),
        metrics,
        limits: settings.limits.clone(),
        token,
        gate: Semaphore::new(settings.limits.in_flight),
        draining: AtomicBool::new(false),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let served = runtime.block_on(serve(app, settings, Arc::new(say)));
    queue.close();
    // What is still predicted has nobody who waits for it.
    runtime.shutdown_background();
    if served.is_ok() {
        workers.into_iter().for_each(|worker| drop(worker.join()));
    }
    served
}

async fn serve(app: Arc<App>, settings: &Settings, say: Arc<impl Fn(Event) + Send + Sync + 'static>) -> Result<()> {
    let taken = |error: std::io::Error| {
        let what = error.to_string();
        Error::options(format!(
            "cannot listen on {}: {}",
            settings.address,
            what.split(" (os").next().unwrap_or_default()
        ))
    };
    let listener = TcpListener::bind(settings.address).await.map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    let limits = app.limits.clone();
    let (stop, mut stopped) = watch::channel(false);
    // Told before anybody may have to tell it.
    let mut signals = Signals::new().map_err(taken)?;
    say(Event::Listening(address, app.models.all().keys().cloned().collect()));
    let watched = app.clone();
    tokio::spawn(async move {
        while signals.next().await == Signal::Reload {
            let app = watched.clone();
            let errors = tokio::task::spawn_blocking(move || app.models.reload()).await.unwrap_or_default();
            watched.metrics.reloaded(errors.len());
            say(Event::Reloaded(errors));
        }
        watched.draining.store(true, Ordering::Relaxed);
        say(Event::Stopping);
        stop.send_replace(true);
    });
    let listener = Limited::new(listener, limits.connections, limits.idle);
    let mut told = stopped.clone();
    let told = async move { drop(told.wait_for(|stop| *stop).await) };
    let serving = tokio::spawn(axum::serve(listener, router(app)).with_graceful_shutdown(told).into_future());
    // Its sender lives until it has said so.
    drop(stopped.wait_for(|stop| *stop).await);
    match tokio::time::timeout(limits.drain, serving).await {
        Ok(_) => Ok(()),
        Err(_) => {
            Err(Error::data(format!("requests were still under way after {} seconds", limits.drain.as_secs_f64())))
        }
    }
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Reload,
    Stop,
}

#[cfg(unix)]
struct Signals {
    hangup: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.hangup.recv() => Signal::Reload,
            _ = self.terminate.recv() => Signal::Stop,
            _ = self.interrupt.recv() => Signal::Stop,
        }
    }
}

/// Elsewhere than on Unix there is Ctrl-C alone.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Signal {
        let _ = tokio::signal::ctrl_c().await;
        Signal::Stop
    }
}
