//! Training and inference of networks on NVIDIA GPUs, many networks at once, bit-identical to the CPU engine.
//!
//! The driver and the kernel compiler (NVRTC) are loaded at run time: CUDA is not needed to build this crate or to run programs that
//! contain it. A job trains entirely on the GPU; the host polls it between launches. Kernels are compiled for the shape of a network and
//! cached on disk. Jobs that no kernel supports, and those of a GPU that fails, run on the CPU with the same results.

mod accelerator;
mod batch;
mod buffers;
mod cache;
mod constants;
mod device;
mod engine;
mod header;
mod layout;
mod outputs;
mod pending_job;
mod quantiles;
mod record;
mod shape;
mod source;
mod stream;
mod tiling;
mod trainer;
mod training_log;
mod upload;

pub use accelerator::accelerator;
#[cfg(feature = "emulated")]
pub use accelerator::emulated_accelerator;
pub use device::CudaDevice;
#[cfg(feature = "emulated")]
pub use device::EmulatedDevice;
pub use engine::CudaEngine;
pub use trainer::{ENGINES, Trainer, engines};
