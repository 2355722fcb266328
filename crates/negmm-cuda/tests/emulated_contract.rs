//! The CUDA engine keeps the engine contract, with emulated kernels and without falling back to the CPU.

#[macro_use]
mod common;

use common::WithoutFallback;
use negmm_cuda::CudaEngine;

engine_contract!(common::emulated(false).map(|device| WithoutFallback::new(CudaEngine::emulated(device))));
