//! The training engine: threads of this process, or an executor of Python's to which jobs go as bytes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use negmm::data::Dataset;
use negmm::train::{Callbacks, CpuEngine, Engine, Job, Progress, Queue, Trained};
use negmm::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::exception;
use crate::threads::interruptible;

/// The encoded rows that jobs train on.
#[pyclass(frozen, module = "negmm._native")]
pub struct Rows(Arc<Dataset>);

#[pymethods]
impl Rows {
    /// Reads the bytes that were sent to a worker.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| Dataset::from_bytes(bytes)).map(|data| Self(Arc::new(data))).map_err(exception)
    }
}

/// Trains a job on its rows: bytes in, bytes out.
#[pyfunction]
#[pyo3(signature = (rows, job, *, threads))]
pub fn train<'py>(
    py: Python<'py>,
    rows: &Bound<'py, Rows>,
    job: Vec<u8>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = rows.get().0.clone();
    let trained = interruptible(py, threads, move |cancel| {
        let job = Job::from_bytes(&job, &rows)?;
        let watch = Callbacks { cancel, ..Callbacks::nothing() };
        negmm::train::train(&CpuEngine::new(threads), &[job], &watch).remove(0)?.to_bytes()
    })?;
    Ok(PyBytes::new(py, &trained.map_err(exception)?))
}

/// A training engine: threads of this process, or Python's exchange with an executor.
///
/// An exchange has `capacity`, how many jobs it takes at once; `lacks(rows)` and `keep(rows, bytes)`, for rows by their name;
/// `send(number, rows, job)`; `receive()`, which waits a moment and returns (number, bytes), or (number, str) of a job that failed; and
/// `stop()`.
pub enum Trainer {
    Local(here::Trainer),
    Remote { exchange: Py<PyAny>, raised: Mutex<Option<PyErr>> },
}

/// The engine of this process: the CPU, and CUDA where this build has it.
#[cfg(feature = "cuda")]
mod here {
    pub use negmm_cuda::Trainer;

    pub fn trainer(name: &str, threads: usize) -> negmm::Result<Trainer> {
        Trainer::new(name, threads, Box::new(|_| {}))
    }
}

#[cfg(not(feature = "cuda"))]
mod here {
    pub use negmm::train::CpuEngine as Trainer;

    pub fn trainer(name: &str, threads: usize) -> negmm::Result<Trainer> {
        match name {
            "auto" | "cpu" => Ok(Trainer::new(threads)),
            "cuda" => Err(negmm::Error::options("this build has no CUDA engine: it was made without the feature cuda")),
            _ => Err(negmm::Error::options(format!("engine must be one of auto, cpu, cuda, found {name:?}"))),
        }
    }
}

impl Trainer {
    /// `engine` is the name of the engine of this process.
    pub fn new(exchange: Option<Py<PyAny>>, engine: &str, threads: usize) -> Result<Self> {
        match exchange {
            None => here::trainer(engine, threads).map(Self::Local),
            Some(exchange) => Ok(Self::Remote { exchange, raised: Mutex::default() }),
        }
    }

    /// The result of some work, or the exception that Python raised meanwhile.
    pub fn outcome<T>(self, result: Result<T>) -> PyResult<T> {
        if let Self::Remote { raised, .. } = self
            && let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner)
        {
            return Err(error);
        }
        result.map_err(crate::error::exception)
    }
}

impl Engine for Trainer {
    fn run(&self, queue: &dyn Queue, watch: &Callbacks<'_>) {
        match self {
            Self::Local(engine) => engine.run(queue, watch),
            Self::Remote { exchange, raised } => {
                let result = run_remote(exchange, queue, watch);
                let stopped = Python::attach(|py| exchange.call_method0(py, "stop").map(drop));
                if let Err(error) = result.and(stopped) {
                    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    }
}

/// Keeps as many jobs at the executor as it takes at once, and collects the results, until there are no more.
fn run_remote(exchange: &Py<PyAny>, queue: &dyn Queue, watch: &Callbacks<'_>) -> PyResult<()> {
    let capacity: usize = Python::attach(|py| exchange.getattr(py, "capacity")?.extract(py))?;
    let (mut out, mut more) = (0, true);
    while !watch.cancel.load(Ordering::Relaxed) {
        while more && out < capacity {
            match queue.next() {
                Some((number, job)) => {
                    send(exchange, number, &job)?;
                    out += 1;
                }
                None => more = false,
            }
        }
        if out == 0 {
            return Ok(());
        }
        for (number, trained) in receive(exchange)? {
            out -= 1;
            queue.done(number, trained);
            (watch.progress)(&Progress { job: number, epoch: 1, epochs: 1, best: None, last: true });
        }
    }
    Ok(())
}

fn send(exchange: &Py<PyAny>, number: usize, job: &Job) -> PyResult<()> {
    let (rows, bytes) = (format!("{:016x}", job.data().fingerprint()), job.to_bytes().map_err(exception)?);
    if Python::attach(|py| exchange.call_method1(py, "lacks", (&rows,))?.is_truthy(py))? {
        let packed = job.data().to_bytes().map_err(exception)?;
        Python::attach(|py| exchange.call_method1(py, "keep", (&rows, PyBytes::new(py, &packed))).map(drop))?;
    }
    Python::attach(|py| exchange.call_method1(py, "send", (number, &rows, PyBytes::new(py, &bytes))).map(drop))
}

fn receive(exchange: &Py<PyAny>) -> PyResult<Vec<(usize, Result<Trained>)>> {
    Python::attach(|py| {
        let back: Vec<(usize, Bound<'_, PyAny>)> = exchange.call_method0(py, "receive")?.extract(py)?;
        back.into_iter()
            .map(|(number, trained)| match trained.cast::<PyBytes>() {
                Ok(bytes) => Ok((number, Trained::from_bytes(bytes.as_bytes()))),
                Err(_) => Ok((number, Err(Error::data(trained.extract::<String>()?)))),
            })
            .collect()
    })
}
