//! The engine keeps the contract of engines, with its kernels compiled for a processor.

#[macro_use]
mod common;

use negmm_cuda::CudaEngine;

engine_contract!(common::emulated(false).map(CudaEngine::emulated));
