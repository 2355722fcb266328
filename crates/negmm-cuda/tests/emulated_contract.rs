//! The CUDA engine keeps the engine contract, with emulated kernels.

#[macro_use]
mod common;

use negmm_cuda::CudaEngine;

engine_contract!(common::emulated(false).map(CudaEngine::emulated));
