//! Responsible for what an engine needs of a device: memory, kernels, launches.

mod cuda;
#[cfg(feature = "emulated")]
mod emulated;

pub use cuda::Card;
#[cfg(feature = "emulated")]
pub use emulated::Emulated;

use crate::record::JobRecord;
use crate::source::Source;

/// What went wrong on a device, in words.
pub(crate) type Failure = String;

/// Something that trains networks and predicts by kernels.
pub(crate) trait Device: Sync {
    /// Memory of the device; freed with it.
    type Memory: Send + Sync;
    /// A compiled kernel.
    type Kernel: Send + Sync;
    /// Launches that wait for each other, and for no others.
    type Queue: Send;

    /// What a launch needs as long as it runs.
    type Launch;

    /// Whether every room is in the device's memory, those that would be shared memory too.
    const ROOM_IN_MEMORY: bool;

    /// Bytes of shared memory that a block may have, and multiprocessors.
    fn shared_memory(&self) -> usize;
    fn multiprocessors(&self) -> usize;

    fn queue(&self) -> Result<Self::Queue, Failure>;

    /// Compiles a kernel, or finds it compiled.
    fn kernel(&self, source: &Source) -> Result<Self::Kernel, Failure>;

    /// Blocks of a kernel that one multiprocessor has at once.
    fn resident(&self, kernel: &Self::Kernel) -> usize;

    /// Bytes of memory that nobody has taken.
    fn free_memory(&self) -> Result<usize, Failure>;

    /// Memory of so many bytes, all zero but for `content` at the beginning.
    fn memory(&self, queue: &Self::Queue, content: &[u8], bytes: usize) -> Result<Self::Memory, Failure>;

    /// Writes bytes at its beginning.
    fn write(&self, queue: &Self::Queue, memory: &mut Self::Memory, content: &[u8]) -> Result<(), Failure>;

    fn address(memory: &Self::Memory) -> u64;

    /// Reads bytes from a place on.
    fn read(&self, queue: &Self::Queue, memory: &Self::Memory, from: usize, bytes: &mut [u8]) -> Result<(), Failure>;

    /// Starts to train every job for at most so many epochs. Of epoch e of job j place e · jobs + j of `board` will tell.
    fn launch(
        &self,
        queue: &Self::Queue,
        kernel: &Self::Kernel,
        jobs: &[JobRecord],
        board: &Self::Memory,
        epochs: usize,
    ) -> Result<Self::Launch, Failure>;

    /// Runs so many blocks of a kernel, which is told the address of a record, and waits until they are done.
    fn run(&self, queue: &Self::Queue, kernel: &Self::Kernel, record: u64, blocks: usize) -> Result<(), Failure>;

    /// Waits until it is done.
    fn wait(&self, queue: &Self::Queue, launch: Self::Launch) -> Result<(), Failure>;
}
