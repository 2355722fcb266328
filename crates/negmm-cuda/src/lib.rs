//! Trains networks on an NVIDIA card, many at once, and predicts with them, with the bits of the processor's engine.
//!
//! The driver and the compiler of kernels (NVRTC) are loaded when they are asked for: nothing of CUDA is needed to build this crate or
//! to run what contains it. A whole training lives on the card; the host looks at it from time to time. Kernels are made for the shape
//! of a network and kept on disk. What no kernel does, and what a failing card leaves undone, is done by the processor: both give the
//! same bits.

mod accelerator;
mod batch;
mod cache;
mod course;
mod desk;
mod device;
mod engine;
mod outputs;
mod places;
mod quantiles;
mod record;
mod room;
mod shape;
mod source;
mod stage;
mod trainer;
mod upload;

pub use accelerator::accelerator;
#[cfg(feature = "emulated")]
pub use accelerator::emulated_accelerator;
pub use device::Card;
#[cfg(feature = "emulated")]
pub use device::Emulated;
pub use engine::CudaEngine;
pub use trainer::{ENGINES, Trainer, engines};
