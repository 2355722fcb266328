//! Engines by their names: the CPU always, CUDA where this build has it.

#[cfg(feature = "cuda")]
pub use negmm_cuda::{Trainer, accelerator, engines};

#[cfg(not(feature = "cuda"))]
pub use without_cuda::{Trainer, accelerator, engines};

#[cfg(not(feature = "cuda"))]
mod without_cuda {
    use std::sync::Arc;

    use negmm::train::{Callbacks, CpuEngine, Engine, Isa, Queue};
    use negmm::{Accelerator, Error, Result};

    type Notify = Box<dyn Fn(&str) + Sync + Send>;

    /// The CPU engine.
    pub struct Trainer(CpuEngine);

    impl Trainer {
        /// `cpu` or `auto`.
        ///
        /// # Errors
        /// When the name is another, `cuda` among them.
        pub fn new(name: &str, threads: usize, _: Notify) -> Result<Self> {
            check(name).map(|()| Self(CpuEngine::new(threads)))
        }

        /// Threads, 0 for all cores.
        pub fn threads(&self) -> usize {
            self.0.threads
        }
    }

    impl Engine for Trainer {
        fn run(&self, queue: &dyn Queue, watch: &Callbacks<'_>) {
            self.0.run(queue, watch);
        }
    }

    /// None: the CPU predicts without one.
    pub fn accelerator(name: &str, _: Notify) -> Result<Option<Arc<dyn Accelerator>>> {
        check(name).map(|()| None)
    }

    /// Every engine, and what it has or why it cannot be used.
    pub fn engines() -> [(&'static str, Result<String>); 2] {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let isa = format!("{:?}", Isa::best()).to_lowercase();
        [("cpu", Ok(format!("{cores} cores, {isa}"))), ("cuda", Err(no_cuda()))]
    }

    fn check(name: &str) -> Result<()> {
        match name {
            "auto" | "cpu" => Ok(()),
            "cuda" => Err(no_cuda()),
            _ => Err(Error::options(format!("engine must be one of auto, cpu, cuda, found {name:?}"))),
        }
    }

    fn no_cuda() -> Error {
        Error::options("this build has no CUDA engine: it was made without the feature cuda")
    }
}
