//! Helpers shared by the test files.

#![allow(dead_code, unused_macros)]

#[macro_use]
#[path = "../../../negmm/tests/common/engine_suite.rs"]
pub mod engine_suite;
#[path = "../../../negmm/tests/common/external.rs"]
pub mod external;
pub mod jobs;
pub mod predictors;

use std::path::Path;
use std::sync::{Arc, Mutex};

use negmm::train::{Callbacks, Engine, Queue};
use negmm_cuda::{CudaEngine, EmulatedDevice};

/// An emulated device, where there is a C++ compiler; with `reverse_items` its work items run last to first, which reveals races.
pub fn emulated(reverse_items: bool) -> Option<EmulatedDevice> {
    external::tool("C++ compiler", EmulatedDevice::new(Path::new(env!("CARGO_TARGET_TMPDIR")), reverse_items))
}

/// A CUDA engine that fails a test if a network is trained on the CPU instead.
pub struct WithoutFallback<D> {
    engine: CudaEngine<D>,
    notices: Arc<Mutex<Vec<String>>>,
}

impl<D> WithoutFallback<D> {
    pub fn new(mut engine: CudaEngine<D>) -> Self {
        let notices = Arc::new(Mutex::new(Vec::new()));
        let sink = notices.clone();
        engine.notify = Box::new(move |text| sink.lock().unwrap().push(text.to_string()));
        Self { engine, notices }
    }
}

impl<D> Engine for WithoutFallback<D>
where
    CudaEngine<D>: Engine,
{
    fn run(&self, queue: &dyn Queue, callbacks: &Callbacks<'_>) {
        self.engine.run(queue, callbacks);
        assert_eq!(*self.notices.lock().unwrap(), Vec::<String>::new(), "trained on the CPU");
    }
}
