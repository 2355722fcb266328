//! The life cycle of a server: binding, reloading models on SIGHUP, graceful shutdown.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use negmm::{Error, Result};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::app::router;
use crate::limits::Limits;
use crate::listener::LimitedListener;
use crate::metrics::Metrics;
use crate::models::Models;
use crate::state::AppState;
use crate::token::Token;
use crate::worker::{self, Queue};

/// Configuration of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model files.
    pub models: Vec<PathBuf>,
    /// The address it listens on.
    pub address: SocketAddr,
    /// A file with the bearer token that requests must carry.
    pub token_file: Option<PathBuf>,
    /// Worker threads, 0 for all cores.
    pub threads: usize,
    /// Its limits.
    pub limits: Limits,
}

/// An event of a running server.
#[derive(Clone, Debug)]
pub enum Event {
    /// It listens on this address and serves models of these names.
    Listening(SocketAddr, Vec<String>),
    /// Models were reloaded. For each error the model that was loaded before stays in service.
    Reloaded(Vec<Error>),
    /// It is shutting down and completes the requests in flight.
    Stopping,
}

/// Serves until a signal to stop; `notify` gets the events.
///
/// # Errors
/// When a model cannot be read, a limit is out of range or the address is in use; and when requests were still in flight at the end
/// of the drain time.
pub fn run(settings: &Settings, notify: impl Fn(Event) + Send + Sync + 'static) -> Result<()> {
    settings.limits.check()?;
    let token = settings.token_file.as_deref().map(Token::read).transpose()?;
    let models = Models::load(&settings.models)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if settings.threads == 0 { cores() } else { settings.threads };
    let (queue, metrics) = (Arc::new(Queue::default()), Arc::new(Metrics::default()));
    let failed = |error: std::io::Error| Error::options(format!("the server cannot be started: {error}"));
    let workers = worker::start(&queue, threads, &settings.limits, &metrics).map_err(failed)?;
    let app = Arc::new(AppState {
        models,
        queue: queue.clone(),
        metrics,
        limits: settings.limits.clone(),
        token,
        permits: Semaphore::new(settings.limits.in_flight),
        draining: AtomicBool::new(false),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let served = runtime.block_on(serve(app, settings, Arc::new(notify)));
    queue.close();
    // Nobody waits for predictions that are still running.
    runtime.shutdown_background();
    if served.is_ok() {
        workers.into_iter().for_each(|worker| drop(worker.join()));
    }
    served
}

async fn serve(
    app: Arc<AppState>,
    settings: &Settings,
    notify: Arc<impl Fn(Event) + Send + Sync + 'static>,
) -> Result<()> {
    let bind_error = |error: std::io::Error| {
        let what = error.to_string();
        Error::options(format!(
            "cannot listen on {}: {}",
            settings.address,
            what.split(" (os").next().unwrap_or_default()
        ))
    };
    let listener = TcpListener::bind(settings.address).await.map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    let limits = app.limits.clone();
    let (stop, mut stopped) = watch::channel(false);
    // Before the event below, so that no signal after it is missed.
    let mut signals = Signals::new().map_err(bind_error)?;
    notify(Event::Listening(address, app.models.all().keys().cloned().collect()));
    let state = app.clone();
    tokio::spawn(async move {
        while signals.next().await == Signal::Reload {
            let app = state.clone();
            let errors = tokio::task::spawn_blocking(move || app.models.reload()).await.unwrap_or_default();
            state.metrics.reloaded(errors.len());
            notify(Event::Reloaded(errors));
        }
        state.draining.store(true, Ordering::Relaxed);
        notify(Event::Stopping);
        stop.send_replace(true);
    });
    let listener = LimitedListener::new(listener, limits.connections, limits.idle);
    let mut shutdown = stopped.clone();
    let shutdown = async move { drop(shutdown.wait_for(|stop| *stop).await) };
    let serving = tokio::spawn(axum::serve(listener, router(app)).with_graceful_shutdown(shutdown).into_future());
    // The sender lives until it has sent.
    drop(stopped.wait_for(|stop| *stop).await);
    match tokio::time::timeout(limits.drain, serving).await {
        Ok(_) => Ok(()),
        Err(_) => {
            Err(Error::data(format!("requests were still in flight after {} seconds", limits.drain.as_secs_f64())))
        }
    }
}

/// The meaning of a signal.
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

/// Outside Unix only Ctrl-C.
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
