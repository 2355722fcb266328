//! The engine keeps the contract of engines, with its kernels compiled for a processor.

#[macro_use]
#[path = "../../negmm/tests/engine_suite/mod.rs"]
mod engine_suite;

use std::path::Path;

use negmm::train::{CpuEngine, Engine};
use negmm_cuda::{CudaEngine, Emulated};

/// The processor's own engine where there is no C++ compiler.
fn engine() -> Box<dyn Engine> {
    match Emulated::new(Path::new(env!("CARGO_TARGET_TMPDIR")), false) {
        Some(device) => Box::new(CudaEngine::emulated(device)),
        None => Box::new(CpuEngine::new(1)),
    }
}

engine_contract!(*engine());
