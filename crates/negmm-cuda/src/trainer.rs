//! Responsible for the choice of an engine by its name, as programs offer it.

use negmm::train::{Callbacks, CpuEngine, Engine, Queue};
use negmm::{Error, Result};

use crate::{Card, CudaEngine};

/// With `auto` a network of fewer core-seconds than this, about, stays on the processor: kernels must be compiled for its shape once,
/// which takes seconds.
const WORTH_THE_WAY: f64 = 5.0;

/// The names that [`Trainer::new`] takes.
pub const ENGINES: [&str; 3] = ["auto", "cpu", "cuda"];

/// The engine that was asked for.
pub enum Trainer {
    /// Processors.
    Cpu(CpuEngine),
    /// A card, and processors for what it does not train.
    Cuda(Box<CudaEngine>),
}

impl Trainer {
    /// `cpu`; `cuda`; or `auto`, which is a card where there is one that can be used and a network is worth the way, else processors.
    /// What a card leaves to processors is told once, where it was asked for by its name.
    ///
    /// # Errors
    /// When the name is none of them, or a card was asked for and there is none.
    pub fn new(name: &str, threads: usize, tell: Box<dyn Fn(&str) + Sync + Send>) -> Result<Self> {
        match name {
            "cpu" => Ok(Self::Cpu(CpuEngine::new(threads))),
            "cuda" => {
                let mut engine = CudaEngine::new(threads)?;
                engine.tell = tell;
                Ok(Self::Cuda(Box::new(engine)))
            }
            "auto" => Ok(CudaEngine::new(threads).map_or(Self::Cpu(CpuEngine::new(threads)), |mut engine| {
                engine.least_seconds = WORTH_THE_WAY;
                Self::Cuda(Box::new(engine))
            })),
            _ => Err(Error::options(format!("engine must be one of {}, found {name:?}", ENGINES.join(", ")))),
        }
    }

    /// Threads of the processor, 0 for all cores.
    pub fn threads(&self) -> usize {
        match self {
            Self::Cpu(engine) => engine.threads,
            Self::Cuda(engine) => engine.processor.threads,
        }
    }
}

impl Engine for Trainer {
    fn run(&self, queue: &dyn Queue, watch: &Callbacks<'_>) {
        match self {
            Self::Cpu(engine) => engine.run(queue, watch),
            Self::Cuda(engine) => engine.run(queue, watch),
        }
    }
}

/// Every engine, and what it has or why it cannot be used.
pub fn engines() -> [(&'static str, Result<String>); 2] {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let isa = format!("{:?}", negmm::train::Isa::best()).to_lowercase();
    [("cpu", Ok(format!("{cores} cores, {isa}"))), ("cuda", Card::first().map(|card| card.describe()))]
}
