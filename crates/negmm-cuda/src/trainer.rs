//! Training engines by name: `auto`, `cpu`, `cuda`.

use negmm::train::{Callbacks, CpuEngine, Engine, Queue};
use negmm::{Error, Result};

use crate::{CudaDevice, CudaEngine};

/// With `auto`, estimated core-seconds below which a network is trained on the CPU: compiling the kernel of a shape takes seconds.
const MIN_CORE_SECONDS: f64 = 5.0;

/// The names that [`Trainer::new`] takes.
pub const ENGINES: [&str; 3] = ["auto", "cpu", "cuda"];

/// A training engine, chosen by name.
pub enum Trainer {
    /// The CPU.
    Cpu(CpuEngine),
    /// A GPU, and the CPU for jobs that it does not train.
    Cuda(Box<CudaEngine>),
}

impl Trainer {
    /// The engine of that name. `auto` trains on the first usable GPU what takes long enough to be worth it, all else on the CPU. With
    /// `cuda`, `notify` receives, once each, the reasons why jobs are trained on the CPU.
    ///
    /// # Errors
    /// When the name is unknown, or `cuda` was requested and no usable GPU was found.
    pub fn new(name: &str, threads: usize, notify: Box<dyn Fn(&str) + Sync + Send>) -> Result<Self> {
        match name {
            "cpu" => Ok(Self::Cpu(CpuEngine::new(threads))),
            "cuda" => {
                let mut engine = CudaEngine::new(threads)?;
                engine.notify = notify;
                Ok(Self::Cuda(Box::new(engine)))
            }
            "auto" => Ok(CudaEngine::new(threads).map_or(Self::Cpu(CpuEngine::new(threads)), |mut engine| {
                engine.min_seconds = MIN_CORE_SECONDS;
                Self::Cuda(Box::new(engine))
            })),
            _ => Err(Error::option("engine", format!("must be one of {}, found {name:?}", ENGINES.join(", ")))),
        }
    }

    /// CPU threads, 0 for all cores.
    pub fn threads(&self) -> usize {
        match self {
            Self::Cpu(engine) => engine.threads,
            Self::Cuda(engine) => engine.cpu.threads,
        }
    }
}

impl Engine for Trainer {
    fn run(&self, queue: &dyn Queue, callbacks: &Callbacks<'_>) {
        match self {
            Self::Cpu(engine) => engine.run(queue, callbacks),
            Self::Cuda(engine) => engine.run(queue, callbacks),
        }
    }
}

/// Every engine with a description of its hardware, or the reason why it cannot be used.
pub fn engines() -> [(&'static str, Result<String>); 2] {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let isa = format!("{:?}", negmm::train::Isa::best()).to_lowercase();
    [("cpu", Ok(format!("{cores} cores, {isa}"))), ("cuda", CudaDevice::first().map(|device| device.describe()))]
}
