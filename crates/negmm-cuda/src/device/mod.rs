//! The device interface of engine and accelerator: memory, streams, kernels, launches.

mod cuda;
#[cfg(feature = "emulated")]
mod emulated;

pub use cuda::CudaDevice;
#[cfg(feature = "emulated")]
pub use emulated::EmulatedDevice;

use crate::record::JobRecord;
use crate::source::Source;

/// Message of a device failure.
pub(crate) type Failure = String;

/// A device that runs kernels: a GPU, or its emulation on the CPU.
pub(crate) trait Device: Sync {
    /// An allocation of device memory, freed on drop.
    type Memory: Send + Sync;
    /// A compiled kernel.
    type Kernel: Send + Sync;
    /// A CUDA stream: its launches and copies run in order.
    type Stream: Send;

    /// Resources that a launch needs while it runs.
    type Launch;

    /// Whether workspaces always lie in global memory, also those laid out for shared memory (emulation).
    const WORKSPACE_IN_GLOBAL_MEMORY: bool;

    /// Shared memory per block in bytes.
    fn shared_memory(&self) -> usize;

    /// Number of multiprocessors.
    fn multiprocessors(&self) -> usize;

    /// Creates a stream.
    fn stream(&self) -> Result<Self::Stream, Failure>;

    /// Compiles a kernel, or loads it from the cache.
    fn kernel(&self, source: &Source) -> Result<Self::Kernel, Failure>;

    /// Resident blocks of a kernel per multiprocessor.
    fn resident(&self, kernel: &Self::Kernel) -> usize;

    /// Free device memory in bytes.
    fn free_memory(&self) -> Result<usize, Failure>;

    /// Allocates `bytes` bytes, `content` at the beginning and zeros after it.
    fn memory(&self, stream: &Self::Stream, content: &[u8], bytes: usize) -> Result<Self::Memory, Failure>;

    /// Writes `content` at the beginning of an allocation.
    fn write(&self, stream: &Self::Stream, memory: &mut Self::Memory, content: &[u8]) -> Result<(), Failure>;

    /// Device address of an allocation.
    fn address(memory: &Self::Memory) -> u64;

    /// Reads bytes, starting at offset `from`.
    fn read(&self, stream: &Self::Stream, memory: &Self::Memory, from: usize, bytes: &mut [u8]) -> Result<(), Failure>;

    /// Starts to train every job for at most `epochs` epochs. Epoch e of job j is written to element e · jobs + j of `epoch_records`.
    fn launch(
        &self,
        stream: &Self::Stream,
        kernel: &Self::Kernel,
        jobs: &[JobRecord],
        epoch_records: &Self::Memory,
        epochs: usize,
    ) -> Result<Self::Launch, Failure>;

    /// Runs a kernel with `blocks` blocks and the address of its arguments, and waits until it is done.
    fn run(&self, stream: &Self::Stream, kernel: &Self::Kernel, record: u64, blocks: usize) -> Result<(), Failure>;

    /// Waits for a launch.
    fn wait(&self, stream: &Self::Stream, launch: Self::Launch) -> Result<(), Failure>;
}
