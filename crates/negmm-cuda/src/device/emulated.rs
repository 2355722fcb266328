//! Emulation of a GPU on the CPU, one thread per block: the same kernel source, compiled by the system's C++ compiler. Slow; for tests of
//! bit-identical results on machines without a GPU.

use std::cell::UnsafeCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libloading::Library;

use super::{Device, Failure};
use crate::record::{EpochRecord, JobRecord};
use crate::source::Source;
use crate::tiling::MIN_SHARED_MEMORY;

const FLAGS: [&str; 11] = [
    "-std=c++17",
    "-nostdinc++",
    "-O0",
    "-mfma",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-shared",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-w",
];

/// A file name part that is unique among running threads and processes.
fn unique() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An emulated GPU.
#[derive(Debug)]
pub struct EmulatedDevice {
    /// Directory of compiled kernels.
    folder: PathBuf,
    /// Whether the work items of every phase run in reverse order, to reveal races.
    pub reverse_items: bool,
    /// Shared memory per block in bytes, as reported to the engine.
    pub shared_memory: usize,
    /// Number of multiprocessors, as reported: limits the blocks per network.
    pub multiprocessors: usize,
    /// Total memory in bytes, as reported.
    pub memory: usize,
    allocated: Arc<AtomicUsize>,
    /// Launches until the device fails.
    pub launches_left: AtomicUsize,
}

impl EmulatedDevice {
    /// A device that caches compiled kernels in `folder`; none without a C++ compiler.
    pub fn new(folder: &Path, reverse_items: bool) -> Option<Self> {
        Command::new("c++").arg("--version").output().ok().filter(|output| output.status.success())?;
        Some(Self {
            folder: folder.into(),
            reverse_items,
            shared_memory: 227 * 1024,
            multiprocessors: 1,
            memory: usize::MAX,
            allocated: Arc::default(),
            launches_left: usize::MAX.into(),
        })
    }

    fn count_launch(&self) -> Result<(), Failure> {
        let fewer = |left: usize| left.checked_sub(1);
        let counted = self.launches_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        counted.map(|_| ()).map_err(|_| "the GPU is gone".into())
    }

    fn library(&self, source: &Source) -> Result<PathBuf, Failure> {
        let name = source.name(&FLAGS.join(" "));
        let path = self.folder.join(format!("{name}.so"));
        if path.exists() {
            return Ok(path);
        }
        let text = path.with_extension(format!("{}.cpp", unique()));
        std::fs::write(&text, &source.text).map_err(|error| error.to_string())?;
        let whole = text.with_extension("so");
        let output = Command::new("c++").args(FLAGS).arg("-o").arg(&whole).arg(&text).output();
        let output = output.map_err(|error| error.to_string())?;
        std::fs::remove_file(&text).map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        std::fs::rename(&whole, &path).map_err(|error| error.to_string())?;
        Ok(path)
    }
}

type Run = unsafe extern "C" fn(*const u8, i32, i32);
type Train = unsafe extern "C" fn(*const JobRecord, i32, *mut EpochRecord, i32, i32);

/// 64 bytes, aligned for vector loads.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// Emulated device memory; its size is counted.
pub struct Memory(Vec<UnsafeCell<Line>>, Arc<AtomicUsize>);

impl Drop for Memory {
    fn drop(&mut self) {
        self.1.fetch_sub(self.0.len() * 64, Ordering::Relaxed);
    }
}

// SAFETY: written only by kernels during `launch`; each allocation belongs to one job or is read-only.
unsafe impl Sync for Memory {}

impl Device for EmulatedDevice {
    type Memory = Memory;
    /// The shared library and its entry point.
    type Kernel = (Library, &'static str);
    type Stream = ();
    type Launch = ();
    const WORKSPACE_IN_GLOBAL_MEMORY: bool = true;

    fn shared_memory(&self) -> usize {
        self.shared_memory
    }

    fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    fn stream(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn kernel(&self, source: &Source) -> Result<Self::Kernel, Failure> {
        if source.shared > self.shared_memory.max(MIN_SHARED_MEMORY) {
            return Err("requesting shared memory failed".into());
        }
        let path = self.library(source)?;
        // SAFETY: the library was compiled from the kernels of this crate and runs nothing when it is loaded.
        let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
        Ok((library, source.entry))
    }

    fn resident(&self, _: &Self::Kernel) -> usize {
        1
    }

    fn free_memory(&self) -> Result<usize, Failure> {
        Ok(self.memory.saturating_sub(self.allocated.load(Ordering::Relaxed)))
    }

    fn memory(&self, _: &(), content: &[u8], bytes: usize) -> Result<Memory, Failure> {
        let lines = bytes.max(content.len()).div_ceil(64);
        let line = |at: usize| {
            let mut line = Line([0; 64]);
            let part = content.get(at * 64..).unwrap_or(&[]);
            let count = part.len().min(64);
            line.0[..count].copy_from_slice(&part[..count]);
            UnsafeCell::new(line)
        };
        if lines * 64 > self.free_memory()? {
            return Err("allocating GPU memory failed".into());
        }
        self.allocated.fetch_add(lines * 64, Ordering::Relaxed);
        Ok(Memory((0..lines).map(line).collect(), self.allocated.clone()))
    }

    fn write(&self, _: &(), memory: &mut Memory, content: &[u8]) -> Result<(), Failure> {
        assert!(content.len() <= memory.0.len() * 64);
        for (line, part) in memory.0.iter_mut().zip(content.chunks(64)) {
            line.get_mut().0[..part.len()].copy_from_slice(part);
        }
        Ok(())
    }

    fn address(memory: &Memory) -> u64 {
        memory.0.as_ptr() as u64
    }

    fn read(&self, _: &(), memory: &Memory, from: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        // SAFETY: kernels write only during `launch`, which has returned; the range is checked.
        unsafe {
            assert!(from + bytes.len() <= memory.0.len() * 64);
            std::ptr::copy_nonoverlapping(memory.0.as_ptr().cast::<u8>().add(from), bytes.as_mut_ptr(), bytes.len());
        }
        Ok(())
    }

    fn launch(
        &self,
        _: &(),
        (library, entry): &Self::Kernel,
        jobs: &[JobRecord],
        epoch_records: &Memory,
        epochs: usize,
    ) -> Result<(), Failure> {
        self.count_launch()?;
        // SAFETY: `train` has this type, the records point to memory that outlives the call, and `epoch_records` is large enough.
        unsafe {
            let train = library.get::<Train>(entry.as_bytes()).map_err(|error| error.to_string())?;
            let epoch_records = Self::address(epoch_records) as *mut EpochRecord;
            train(jobs.as_ptr(), jobs.len() as i32, epoch_records, epochs as i32, self.reverse_items.into());
        }
        Ok(())
    }

    fn run(&self, _: &(), (library, entry): &Self::Kernel, record: u64, blocks: usize) -> Result<(), Failure> {
        self.count_launch()?;
        // SAFETY: the function has this type, and the record and its pointers address memory that outlives the call.
        unsafe {
            let run = library.get::<Run>(entry.as_bytes()).map_err(|error| error.to_string())?;
            run(record as *const u8, blocks as i32, self.reverse_items.into());
        }
        Ok(())
    }

    fn wait(&self, _: &(), _: ()) -> Result<(), Failure> {
        Ok(())
    }
}
